// SPDX-License-Identifier: Apache-2.0
//
// Sizes of tensors and messages, as expressions of extents, layouts and the
// mesh. A pass that creates values or changes their layouts measures the block
// afterwards.
#pragma once

#include "ir/model/Program.h"

namespace foretrace::ir {

/// A program and the table to which expressions about it are appended: its own,
/// as in passes, or one on top of it. Holds references to both, and is passed
/// by value.
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

/// Expressions about a program that does not change, in a table on top of its
/// own. The program must outlive them.
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

/// Returns a number as an expression of \p P.
Expr numberOf(ExprScope P, int64_t Value);
/// Returns a key of the spec of \p P as an expression.
Expr exprOf(ExprScope P, const Located<int64_t> &Field);
/// Returns the sum, and the product, of expressions of \p P.
Expr sumOf(ExprScope P, llvm::ArrayRef<ExprId> Of);
Expr productOf(ExprScope P, llvm::ArrayRef<ExprId> Of);
/// Returns the number of ranks along an axis.
Expr sizeOf(ExprScope P, Axis A);
/// Returns the number of ranks of a group that varies in \p Axes.
Expr sizeOf(ExprScope P, llvm::ArrayRef<Axis> Axes);
Expr sizeOf(ExprScope P, const Group &G);

/// Returns whether only weights have the type, which kernels convert to that of
/// activations.
inline bool isOfWeightsAlone(ElementType T) {
  return T == ElementType::INT8 || T == ElementType::INT4;
}

/// Returns the extent of a dimension, of all replicas together.
Elements extentOf(const Program &P, const Dim &D);
/// Returns the bytes of a tensor, of all replicas together: without scales, and
/// at least one for an element. Meant to find sizes beyond 2^63.
Bytes bytesOfAll(const Program &P, const TensorType &T);
/// Returns whether \p D represents all experts, over which the slots of an
/// activation are distributed: evenly, or with the load of the rank
/// (ir/model/Dims.def).
bool isSpread(const Program &P, const Dim &D);
/// Returns whether \p T has such a dimension with the load of the rank.
bool isLoaded(const Program &P, const TensorType &T);
/// Returns the slots of a rank that has \p Even with balanced routing, if ep
/// splits \p Spread: rounded up.
Expr slotsWithLoad(ExprScope P, Expr Even, const Dim &Spread);
/// Returns \p Of for a rank whose experts have the load \p Load
/// (ir/model/Routing.h).
Expr withLoad(ExprScope P, Expr Of, int64_t Load);
/// Returns the axes that split dimension \p Dim of a tensor; a dimension that
/// represents all experts is split with the slots.
AxisList axesSplitting(const Program &P, const TensorType &T, const Layout &L,
                       size_t Dim);
/// Returns the extent of a dimension on one rank if \p Axes split it.
Expr extentOnRank(ExprScope P, const Dim &D, llvm::ArrayRef<Axis> Axes);
/// Returns the extent of dimension \p Dim of a tensor on one rank.
Expr extentOnRank(ExprScope P, const TensorType &T, const Layout &L,
                  size_t Dim);
/// Returns the elements of a tensor on one rank. A partial sum has the size of
/// the whole tensor; a flat share is rounded up.
Expr elementsOnRank(ExprScope P, const TensorType &T, const Layout &L);
/// Returns the elements of a tensor of one replica.
Expr elementsOfReplica(ExprScope P, const TensorType &T);
/// Selects the number of elements that share a scale.
enum class ScaledBlocks : unsigned char { Activation, Weight };
/// Returns that of a value: shares of several tensors are of weights.
ScaledBlocks blocksOf(const Value &V);
/// Returns the bytes of elements of a type, with their scales; the last scale
/// may be of fewer elements.
Expr bytesOf(ExprScope P, Expr Count, ElementType T, ScaledBlocks Of);
/// Returns the bytes of a measured value on one rank.
Expr bytesOnRank(ExprScope P, const Value &V);
/// Returns the bytes that one rank sends of a measured value that \p O gathers.
Expr gatheredBytes(ExprScope P, const Block &B, const Op &O);

/// Sets the sizes of all values and messages of a block.
void measure(Program &P, Block &B);

} // namespace foretrace::ir
