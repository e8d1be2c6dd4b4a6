// SPDX-License-Identifier: Apache-2.0
//
// Closed forms of a schedule: integer expressions of a loop's index, of the
// stage that runs it, and of the schedule's sizes. Like MLIR's affine
// expressions, they are uniqued nodes of a table; an id names one.
#pragma once

#include "ir/model/Ids.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace foretrace::ir {

enum class IndexVariable : unsigned char {
#define INDEX_VARIABLE(ENUMERATOR, SPELLING, DOC) ENUMERATOR,
#include "ir/model/Indices.def"
};
inline constexpr unsigned NumIndexVariables = 0
#define INDEX_VARIABLE(ENUMERATOR, SPELLING, DOC) +1
#include "ir/model/Indices.def"
    ;

enum class IndexOp : unsigned char {
  Constant,
  Variable,
#define INDEX_OP(ENUMERATOR, SPELLING, DOC) ENUMERATOR,
#include "ir/model/Indices.def"
};

struct IndexNode {
  IndexOp Op;
  int64_t Value = 0; ///< of a constant; which IndexVariable a variable is
  IndexId Left, Right;
};

/// Expressions in an order in which they can be computed.
using IndexCode = std::vector<IndexId>;

/// The expressions of one schedule. Operands come before their uses.
class IndexTable {
public:
  // Out of line, so that users of this header do not compile them.
  IndexTable();
  IndexTable(const IndexTable &);
  IndexTable(IndexTable &&) noexcept;
  IndexTable &operator=(const IndexTable &);
  IndexTable &operator=(IndexTable &&) noexcept;
  ~IndexTable();

  IndexId constant(int64_t Value);
  IndexId variable(IndexVariable V);
  /// Applies \p Op to two operands; folded if both are constant, or if one of
  /// them is neutral.
  IndexId combine(IndexOp Op, IndexId Left, IndexId Right);

  const IndexNode &operator[](IndexId I) const { return Nodes[I]; }
  size_t size() const { return Nodes.size(); }
  /// Returns the value of \p I if it is constant.
  std::optional<int64_t> constantAt(IndexId I) const;
  /// Returns the largest number in any expression.
  int64_t largestConstant() const;
  /// Returns whether \p I depends on the loop's index.
  bool varies(IndexId I) const { return Varies[I.Index]; }
  /// Returns the number of operations in \p I, counting each part as often as
  /// it is used; at most 2^32.
  uint32_t operations(IndexId I) const { return Operations[I.Index]; }
  /// Returns the subexpressions of \p Used, including themselves: either those
  /// that vary or those that do not.
  IndexCode code(llvm::ArrayRef<IndexId> Used, bool Varying) const;

  /// Gives an expression a name for printing. The first name of an expression
  /// remains, and no name is used twice.
  void name(IndexId I, llvm::StringRef Name);
  llvm::ArrayRef<std::pair<IndexId, std::string>> names() const {
    return Names;
  }

  /// Prints \p I, using the names of its parts.
  void print(IndexId I, llvm::raw_ostream &OS) const;
  /// Prints the definition of the name of \p I.
  void printDefinition(IndexId I, llvm::raw_ostream &OS) const;

private:
  IndexId unique(IndexNode N);
  void print(IndexId I, unsigned Precedence, llvm::raw_ostream &OS) const;
  void printNode(const IndexNode &N, unsigned Precedence,
                 llvm::raw_ostream &OS) const;

  Table<IndexId, IndexNode> Nodes;
  // Parallel to Nodes:
  std::vector<bool> Varies;
  std::vector<uint32_t> Operations;
  /// Nodes by their contents.
  using Key = std::tuple<unsigned, int64_t, unsigned, unsigned>;
  llvm::DenseMap<Key, IndexId> Known;
  std::vector<std::pair<IndexId, std::string>> Names;
};

/// Applies \p Op to two numbers; nothing if it overflows or the divisor is not
/// positive. Quotients are rounded down, remainders are not negative.
std::optional<int64_t> applyIndexOp(IndexOp Op, int64_t Left, int64_t Right);

/// The values of a table's expressions.
class IndexValues {
public:
  explicit IndexValues(const IndexTable &T)
      : T(&T), Values(T.size()), Trends(T.size()) {}

  int64_t operator[](IndexId I) const { return Values[I.Index]; }
  void set(IndexVariable V, int64_t Value) {
    Variables[static_cast<size_t>(V)] = Value;
  }
  void compute(const IndexCode &Code);
  /// Returns whether a number exceeded 2^63 or a divisor was not positive.
  bool hasFailed() const { return Failed; }

  /// The growth of an expression each time the loop's index grows by a fixed
  /// amount, and the number of times for which it remains the same.
  struct Trend {
    static constexpr int64_t Always = INT64_MAX;
    int64_t Growth;
    int64_t Times;
  };
  /// Computes the trends of \p Varying, all expressions of a loop that vary,
  /// when the loop's index grows by \p By.
  void computeTrends(const IndexCode &Varying, int64_t By);
  /// Returns the computed trend of \p Of; nothing if none is known.
  std::optional<Trend> trend(IndexId Of) const {
    return T->varies(Of) ? Trends[Of.Index] : Trend{0, Trend::Always};
  }

private:
  std::optional<Trend> trendOf(const IndexNode &N, int64_t By) const;

  const IndexTable *T;
  std::array<int64_t, NumIndexVariables> Variables = {};
  std::vector<int64_t> Values;
  std::vector<std::optional<Trend>> Trends; ///< of those that vary
  bool Failed = false;
};

} // namespace foretrace::ir
