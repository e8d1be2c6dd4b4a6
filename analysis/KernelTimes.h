// SPDX-License-Identifier: Apache-2.0
//
// Shapes of the kernels of ops, and estimates of the durations of ops by the
// laws of their kernels (`cost estimate`).
#pragma once

#include "analysis/KernelLaws.h"
#include "ir/model/Measure.h"

namespace foretrace {

/// Returns the shape of \p O, a product.
ProductShapeOf<ir::RealExpr> productShapeOf(ir::ExprScope P, const ir::Block &B,
                                            const ir::Op &O);
/// Returns the shape of \p O, which is attention or its backward pass, with the
/// batch of one replica.
AttentionShapeOf<ir::RealExpr>
attentionShapeOf(ir::ExprScope P, const ir::Block &B, const ir::Op &O);
/// Returns the numbers of a shape.
ProductShape valuesOf(const ProductShapeOf<ir::RealExpr> &S);
AttentionShape valuesOf(const AttentionShapeOf<ir::RealExpr> &S);
StreamShape valuesOf(const StreamShapeOf<ir::RealExpr> &S);

/// Returns whether the host waits for the counts of tokens of each expert.
/// Dispatchers that send copies leave them on the device, and experts that are
/// padded to a capacity all have as many.
bool needsCounts(const ir::Program &P, const ir::Block &B);

/// Returns the class of the kernel of \p O.
KernelClass kernelClassOf(const ir::Program &P, const ir::Block &B,
                          const ir::Op &O);

/// Laws with the parameters of one job.
class KernelTimes {
public:
  /// \p P has `cost estimate` and a device, which `derive` has filled.
  explicit KernelTimes(ir::ExprScope P) : P(P), Laws(JobNumbers(P)) {}

  /// Returns the first parameter that the class of \p O needs and the job
  /// lacks, or null.
  const ir::KernelParameterInfo *findMissing(const ir::Block &B,
                                             const ir::Op &O) const;
  /// Returns the estimated duration of \p O, which touches \p Touched bytes, in
  /// nanoseconds.
  ir::Expr timeOf(const ir::Block &B, const ir::Op &O,
                  ir::ByteExpr Touched) const;
  /// Returns the shape of \p O, which is neither a product nor attention, as a
  /// kernel of class \p C.
  StreamShapeOf<ir::RealExpr> streamShapeOf(KernelClass C, const ir::Block &B,
                                            const ir::Op &O,
                                            ir::ByteExpr Touched) const;

private:
  LawParameterIds parametersOf(const ir::Block &B, const ir::Op &O) const;
  ScoresShapeOf<ir::RealExpr> scoresShapeOf(const ir::Block &B,
                                            const ir::Op &O) const;
  ir::RealExpr secondsOf(const ir::Block &B, const ir::Op &O,
                         ir::ByteExpr Touched) const;

  const ir::ExprScope P;
  const JobLaws Laws;
};

} // namespace foretrace
