// SPDX-License-Identifier: Apache-2.0
//
// A weight of which ranks have shares with ZeRO, and what it consists of.
#pragma once

#include "ir/model/Measure.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <utility>

namespace foretrace::ir {

/// Returns the axes along which ranks have shares.
AxisList sharedAxes(const Layout &L);

/// A weight that is sharded over ranks.
class SharedWeight {
public:
  /// \p T must outlive this.
  SharedWeight(ExprScope P, const TensorType &T, const Layout &L);

  Expr elements() const { return elementsOnRank(P, T, Whole); }
  Expr ranks() const { return Ranks; }
  Expr byRows() const;
  /// Elements of a row, where there are several.
  Expr columns() const;
  llvm::SmallVector<int64_t, 3> elementsOfParts() const;
  /// The sum over what are parameters of their own, \p Each of their elements.
  Expr byPart(llvm::function_ref<Expr(Expr)> Each) const;

private:
  Expr extent(size_t Dim) const { return extentOnRank(P, T, Whole, Dim); }
  Expr others(size_t Dim) const;
  using Parts = llvm::SmallVector<std::pair<Expr, int64_t>, 2>;
  Parts partsOf(size_t Dim) const;
  Expr sumOfParts(size_t Dim, llvm::function_ref<Expr(Expr)> Each) const;

  ExprScope P;
  const TensorType &T;
  const Layout Whole;
  const Expr Ranks;
};

} // namespace foretrace::ir
