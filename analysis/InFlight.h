// SPDX-License-Identifier: Apache-2.0
//
// Micro-batches in flight on a stage: those that it has run forward and whose
// saved activations it has not yet released.
#pragma once

#include "ir/model/Schedule.h"

namespace foretrace {

/// The event that releases the activations that a chunk saves for a
/// micro-batch.
enum class Release : unsigned char {
  InputGradients,  ///< the gradients of its inputs are complete
  WeightGradients, ///< the gradients of its parameters are complete too
};

/// Micro-batches in flight during a step, including that of the step.
struct InFlight {
  ir::Action At;
  llvm::SmallVector<int64_t, 4> OfKind; ///< by kind of chunk

  int64_t count() const {
    int64_t Sum = 0;
    for (const int64_t Count : OfKind)
      Sum += Count;
    return Sum;
  }
};

/// Returns the steps of stage \p Stage that may have the peak, for each kind of
/// chunk that runs and each direction. A step is omitted if another step has at
/// least as many micro-batches in flight of every kind of chunk; of equal steps
/// the first is returned. So whatever chunks save and steps use, the peak is at
/// one of these steps. \p KindOf is the kind of each chunk, from 0. The time
/// depends on the number of distinct parts of the stage's program, not on the
/// number of micro-batches.
std::vector<InFlight> heaviestSteps(const ir::Schedule &S, int64_t Stage,
                                    llvm::ArrayRef<unsigned> KindOf,
                                    Release At = Release::WeightGradients);

/// Returns the maximum number of micro-batches in flight on stage \p Stage,
/// over all chunks.
int64_t peakInFlight(const ir::Schedule &S, int64_t Stage,
                     Release At = Release::WeightGradients);

} // namespace foretrace
