// SPDX-License-Identifier: Apache-2.0
//
// Shapes of the kernels of ops, and estimates of the durations of ops by the
// laws of their kernels (`cost estimate`).
#ifndef FORETRACE_ANALYSIS_KERNELTIMES_H
#define FORETRACE_ANALYSIS_KERNELTIMES_H

#include "analysis/KernelLaws.h"
#include "ir/model/Measure.h"

namespace foretrace {

/// Returns the shape of \p O, a product.
ProductShape productShapeOf(const ir::Program &P, const ir::Block &B,
                            const ir::Op &O);
/// Returns the shape of \p O, which is attention or its backward pass. Of a
/// batch it has what one replica has.
AttentionShape attentionShapeOf(const ir::Program &P, const ir::Block &B,
                                const ir::Op &O);

/// Returns whether the host waits for the counts of tokens of each expert.
/// Dispatchers that send copies leave them on the device, and experts that are
/// padded to a capacity all have as many.
bool needsCounts(const ir::Program &P, const ir::Block &B);

/// Laws with the parameters of one job.
class KernelTimes {
public:
  /// \p P has `cost estimate` and a device, which `derive` has filled.
  explicit KernelTimes(const ir::Program &P) : P(P), Laws(P.Spec) {}

  /// Returns the first parameter that the class of \p O needs and the job
  /// lacks, or null.
  const ir::KernelParameterInfo *findMissing(const ir::Block &B,
                                             const ir::Op &O) const;
  /// Returns the estimated duration of \p O, which touches \p Touched bytes:
  /// rounded to the nearest nanosecond.
  Nanoseconds timeOf(const ir::Block &B, const ir::Op &O, Bytes Touched) const;

  /// Returns the parameters of the law of \p O with their values:
  /// `stream.efficiency = 0.85, stream.start_us = 3`.
  std::string describe(const ir::Block &B, const ir::Op &O) const;

  KernelClass classOf(const ir::Block &B, const ir::Op &O) const;
  /// Returns the shape of \p O, which is neither a product nor attention.
  StreamShape streamShapeOf(const ir::Block &B, const ir::Op &O,
                            Bytes Touched) const;

private:
  KernelLaws::Parameters parametersOf(const ir::Block &B,
                                      const ir::Op &O) const;
  ScoresShape scoresShapeOf(const ir::Block &B, const ir::Op &O) const;

  const ir::Program &P;
  const KernelLaws Laws;
};

} // namespace foretrace

#endif
