// SPDX-License-Identifier: Apache-2.0
//
// How large tensors and messages are: expressions from extents, layouts and the
// mesh. Whoever makes values, or lays them out, measures the block then.
#ifndef FORETRACE_IR_MODEL_MEASURE_H
#define FORETRACE_IR_MODEL_MEASURE_H

#include "ir/model/Program.h"

namespace foretrace::ir {

/// Where expressions about a program are written: into its own table, as passes
/// do, or into a table on top of it. Refers to both, and is passed by value.
class ExprScope {
public:
  ExprScope(Program &Of) : Sizes(Of.Sizes), P(Of) {}
  ExprScope(const Program &Of, ExprTable &Sizes) : Sizes(Sizes), P(Of) {}

  const Program *operator->() const { return &P; }
  const Program &operator*() const { return P; }
  operator const Program &() const { return P; }
  Expr at(ExprId I) const { return {Sizes, I}; }
  template <typename Unit> Expr at(UnitExpr<Unit> E) const {
    return {Sizes, E.Id};
  }

  ExprTable &Sizes;

private:
  const Program &P;
};

/// Expressions about a program that stays as it is, on top of its own. The
/// program must outlive them.
class ExprOverlay {
public:
  explicit ExprOverlay(const Program &Of) : Sizes(&Of.Sizes), P(Of) {}
  ExprOverlay(const Program &Of, ExprTable Sizes)
      : Sizes(std::move(Sizes)), P(Of) {}

  operator ExprScope() { return {P, Sizes}; }
  operator const Program &() const { return P; }
  const Program *operator->() const { return &P; }

  ExprTable Sizes;

private:
  const Program &P;
};

/// A number as an expression of \p P.
Expr numberOf(ExprScope P, int64_t Value);
/// A key of the spec of \p P as one.
Expr exprOf(ExprScope P, const Located<int64_t> &Field);
/// The sum of expressions of \p P, and their product.
Expr sumOf(ExprScope P, llvm::ArrayRef<ExprId> Of);
Expr productOf(ExprScope P, llvm::ArrayRef<ExprId> Of);
/// Ranks along an axis.
Expr sizeOf(ExprScope P, Axis A);
/// Ranks of a group that varies in \p Axes.
Expr sizeOf(ExprScope P, llvm::ArrayRef<Axis> Axes);
Expr sizeOf(ExprScope P, const Group &G);

/// The extent of a dimension of all replicas together.
Elements extentOf(const Program &P, const Dim &D);
/// Bytes of a tensor of all replicas together.
Bytes bytesOfAll(const Program &P, const TensorType &T);
/// The axes that split dimension \p Dim of a tensor. The one expert of an
/// activation stands for all, over which its slots are spread
/// (ir/model/Dims.def).
AxisList axesSplitting(const Program &P, const TensorType &T, const Layout &L,
                       size_t Dim);
/// Extent of a dimension on one rank if these axes split it.
Expr extentOnRank(ExprScope P, const Dim &D, llvm::ArrayRef<Axis> Axes);
/// Extent of dimension \p Dim of a tensor on one rank.
Expr extentOnRank(ExprScope P, const TensorType &T, const Layout &L,
                  size_t Dim);
/// Elements that one rank holds; a partial sum has the size of the whole, a
/// flat share is rounded up.
Expr elementsOnRank(ExprScope P, const TensorType &T, const Layout &L);
/// Elements of a tensor of one replica.
Expr elementsOfReplica(ExprScope P, const TensorType &T);
/// Bytes that one rank holds of a value that is measured.
Expr bytesOnRank(ExprScope P, const Value &V);

/// Sets the sizes of all values and messages of a block.
void measure(Program &P, Block &B);

} // namespace foretrace::ir

#endif
