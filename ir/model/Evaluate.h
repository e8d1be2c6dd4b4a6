// SPDX-License-Identifier: Apache-2.0
//
// Evaluation of expressions for other values of their keys: for one
// configuration, or for a block of them, column by column, as vectorised query
// engines do. Both give the same numbers and refuse the same rows.
#pragma once

#include "ir/model/Expr.h"
#include <array>
#include <memory>

namespace foretrace::ir {

/// The steps that compute some expressions, in order. Results are stored in
/// slots, which are reused after the last read.
class ExprCode {
public:
  struct Step {
    ExprOp Op;
    unsigned Out, Left, Right; ///< slots
  };
  /// A call, whose number in calls() is the left operand of its step.
  struct Call {
    const ExprFunction *Of;
    llvm::SmallVector<unsigned, 8> Operands; ///< slots
  };
  struct Constant {
    unsigned Slot;
    int64_t Value;
  };

  ExprCode() = default;
  /// The values of \p Wanted remain available to the end.
  ExprCode(const ExprTable &T, llvm::ArrayRef<ExprId> Wanted);

  /// A key without a definition, and its value in the table.
  struct Leaf {
    ir::Key Key;
    int64_t Value;
  };
  /// Returns the leaves, whose slots are 0, 1, ...
  llvm::ArrayRef<Leaf> leaves() const { return Leaves; }
  std::optional<size_t> findLeaf(Key K) const;
  /// Returns the slots of the wanted expressions, in the order in which they
  /// were given.
  llvm::ArrayRef<unsigned> results() const { return Results; }
  llvm::ArrayRef<Constant> constants() const { return Constants; }
  llvm::ArrayRef<Step> steps() const { return Steps; }
  llvm::ArrayRef<Call> calls() const { return Calls; }
  unsigned slots() const { return NumSlots; }
  /// Returns the number of steps after which a wanted expression has its value.
  unsigned readyAfter(size_t Result) const { return Ready[Result]; }
  /// Returns whether a wanted number never has a value.
  bool isMissing() const { return IsMissing; }

private:
  std::vector<Leaf> Leaves;
  std::vector<Constant> Constants;
  std::vector<Step> Steps;
  std::vector<Call> Calls;
  std::vector<unsigned> Results;
  std::vector<unsigned> Ready; ///< parallel to Results
  unsigned NumSlots = 0;
  bool IsMissing = false;
};

/// Evaluates one configuration after another, on demand.
class RowEvaluator {
public:
  explicit RowEvaluator(const ExprCode &Code);

  /// Starts a new configuration; to be called before its values are set.
  void restart() { Done = 0; }
  void set(size_t Leaf, int64_t Value) { Slots[Leaf] = Value; }
  /// Returns the value of a wanted expression; `NoValue` if it or an operand
  /// exceeds 2^63 or is a quotient with a remainder.
  int64_t value(size_t Result) {
    compute(Code.readyAfter(Result));
    return Slots[Code.results()[Result]];
  }
  /// Computes all expressions. Returns whether all have a value.
  bool run();

private:
  void compute(size_t Steps);

  const ExprCode &Code;
  std::vector<int64_t> Slots;
  size_t Done = 0; ///< steps
};

/// Evaluates blocks of configurations.
class ColumnEvaluator {
public:
  static constexpr size_t BlockSize = 1024;
  using Column = std::array<int64_t, BlockSize>;
  using RowFlags = std::array<unsigned char, BlockSize>;
  /// The minimum and maximum of a column.
  struct Bounds {
    int64_t Least, Most;
  };

  /// Columns that several evaluators use in turn: what one has written and
  /// computed lasts until the next one begins.
  struct Storage {
    /// By slot; pages of rows that are not computed are never touched.
    std::unique_ptr<Column[]> Columns;
    size_t Slots = 0;
    const ColumnEvaluator *User = nullptr;
  };

  explicit ColumnEvaluator(const ExprCode &Code, std::shared_ptr<Storage> In =
                                                     std::make_shared<Storage>());
  ColumnEvaluator(const ColumnEvaluator &) = delete;
  ColumnEvaluator &operator=(const ColumnEvaluator &) = delete;
  /// Another object may soon have the same address.
  ~ColumnEvaluator() {
    if (In->User == this)
      In->User = nullptr;
  }

  /// Returns the values of a leaf, to be written before `run`.
  llvm::MutableArrayRef<int64_t> leaf(size_t Leaf) {
    begin();
    IsWritten[Leaf] = true;
    return In->Columns[Leaf];
  }
  /// Returns the values of a leaf that `run` has read.
  llvm::ArrayRef<int64_t> valuesOfLeaf(size_t Leaf) const {
    return In->Columns[Leaf];
  }
  /// Computes the first \p Count rows.
  void run(size_t Count);
  /// Returns the values of a wanted expression. Rows without a value contain an
  /// arbitrary number.
  llvm::ArrayRef<int64_t> values(size_t Result) const {
    return In->Columns[Code.results()[Result]];
  }
  /// Returns whether all numbers of a row have a value.
  bool exists(size_t Row) const { return Missing[Row] == 0; }

private:
  void begin();
  void fill(size_t Count);
  Bounds compute(const ExprCode::Step &S, size_t Count);
  Bounds call(const ExprCode::Step &S, size_t Count);

  const ExprCode &Code;
  std::shared_ptr<Storage> In;
  std::vector<bool> IsWritten; ///< by leaf; the others have their own value
  std::vector<Bounds> Ranges;  ///< by slot
  size_t Filled = 0; ///< rows that have the constants, and leaves' own values
  RowFlags Missing = {};
};

} // namespace foretrace::ir
