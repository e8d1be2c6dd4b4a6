// SPDX-License-Identifier: Apache-2.0
//
// How large tensors and messages are: expressions from extents, layouts and the
// mesh. Whoever makes values, or lays them out, measures the block then.
#ifndef FORETRACE_IR_MODEL_MEASURE_H
#define FORETRACE_IR_MODEL_MEASURE_H

#include "ir/model/Program.h"

namespace foretrace::ir {

/// A number as an expression of \p P.
Expr numberOf(Program &P, int64_t Value);
/// A key of the spec of \p P as one.
Expr exprOf(Program &P, const Located<int64_t> &Field);
/// The sum of expressions of \p P, and their product.
Expr sumOf(Program &P, llvm::ArrayRef<ExprId> Of);
Expr productOf(Program &P, llvm::ArrayRef<ExprId> Of);
/// Ranks along an axis.
Expr sizeOf(Program &P, Axis A);
/// Ranks of a group that varies in \p Axes.
Expr sizeOf(Program &P, llvm::ArrayRef<Axis> Axes);
Expr sizeOf(Program &P, const Group &G);

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
Expr extentOnRank(Program &P, const Dim &D, llvm::ArrayRef<Axis> Axes);
/// Extent of dimension \p Dim of a tensor on one rank.
Expr extentOnRank(Program &P, const TensorType &T, const Layout &L, size_t Dim);
/// Elements that one rank holds; a partial sum has the size of the whole, a
/// flat share is rounded up.
Expr elementsOnRank(Program &P, const TensorType &T, const Layout &L);
/// Elements of a tensor of one replica.
Expr elementsOfReplica(Program &P, const TensorType &T);
/// Bytes that one rank holds of a value that is measured.
Expr bytesOnRank(Program &P, const Value &V);

/// Sets the sizes of all values and messages of a block.
void measure(Program &P, Block &B);

} // namespace foretrace::ir

#endif
