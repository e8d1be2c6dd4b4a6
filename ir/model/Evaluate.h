// SPDX-License-Identifier: Apache-2.0
//
// Expressions computed again for other values of their keys: for one
// configuration, or for a block of them, column by column, as vectorised query
// engines do. Both give the same numbers, and refuse the same rows.
#ifndef FORETRACE_IR_MODEL_EVALUATE_H
#define FORETRACE_IR_MODEL_EVALUATE_H

#include "ir/model/Expr.h"
#include <array>

namespace foretrace::ir {

/// What has to be computed for some expressions, in order. Results live in
/// slots, which are used again once nobody reads them any more.
class ExprCode {
public:
  struct Step {
    ExprOp Op;
    unsigned Out, Left, Right; ///< slots
  };
  struct Constant {
    unsigned Slot;
    int64_t Value;
  };

  ExprCode() = default;
  /// \p Wanted stay available to the end.
  ExprCode(const ExprTable &T, llvm::ArrayRef<ExprId> Wanted);

  /// A key that follows from no others, and its value in the table.
  struct Leaf {
    ir::Key Key;
    int64_t Value;
  };
  /// Their slots are 0, 1, ...
  llvm::ArrayRef<Leaf> leaves() const { return Leaves; }
  std::optional<size_t> findLeaf(Key K) const;
  /// Where the value of a wanted expression is, in the order they were given.
  llvm::ArrayRef<unsigned> results() const { return Results; }
  llvm::ArrayRef<Constant> constants() const { return Constants; }
  llvm::ArrayRef<Step> steps() const { return Steps; }
  unsigned slots() const { return NumSlots; }
  /// After how many steps a wanted expression has its value.
  unsigned readyAfter(size_t Result) const { return Ready[Result]; }
  /// Whether a wanted number never exists.
  bool isMissing() const { return IsMissing; }

private:
  std::vector<Leaf> Leaves;
  std::vector<Constant> Constants;
  std::vector<Step> Steps;
  std::vector<unsigned> Results;
  std::vector<unsigned> Ready; ///< parallel to Results
  unsigned NumSlots = 0;
  bool IsMissing = false;
};

/// One configuration after another, as far as somebody asks.
class RowEvaluator {
public:
  explicit RowEvaluator(const ExprCode &Code);

  /// Before the values of a configuration.
  void restart() { Done = 0; }
  void set(size_t Leaf, int64_t Value) { Slots[Leaf] = Value; }
  /// Of a wanted expression; `NoValue` if it, or what it is made of, is beyond
  /// 2^63 or a quotient with a rest.
  int64_t value(size_t Result) {
    compute(Code.readyAfter(Result));
    return Slots[Code.results()[Result]];
  }
  /// Computes all; whether all numbers exist.
  bool run();

private:
  void compute(size_t Steps);

  const ExprCode &Code;
  std::vector<int64_t> Slots;
  size_t Done = 0; ///< steps
};

/// Blocks of configurations.
class ColumnEvaluator {
public:
  static constexpr size_t BlockSize = 1024;
  using Column = std::array<int64_t, BlockSize>;
  using RowFlags = std::array<unsigned char, BlockSize>;
  /// The least and the largest number of a column.
  struct Bounds {
    int64_t Least, Most;
  };

  explicit ColumnEvaluator(const ExprCode &Code);

  /// The values of a leaf, to be written before `run`.
  llvm::MutableArrayRef<int64_t> leaf(size_t Leaf) { return Columns[Leaf]; }
  /// Computes the first \p Count rows.
  void run(size_t Count);
  /// Any number where it, or what it is made of, does not exist.
  llvm::ArrayRef<int64_t> values(size_t Result) const {
    return Columns[Code.results()[Result]];
  }
  /// Whether all numbers of a row exist.
  bool exists(size_t Row) const { return Missing[Row] == 0; }

private:
  Bounds compute(const ExprCode::Step &S, size_t Count);

  const ExprCode &Code;
  std::vector<Column> Columns;
  std::vector<Bounds> Ranges; ///< parallel to Columns
  RowFlags Missing = {};
};

} // namespace foretrace::ir

#endif
