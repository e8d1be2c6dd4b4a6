// SPDX-License-Identifier: Apache-2.0
//
// Micro-batches in flight on a stage: those that it has run forward and whose
// saved activations it has not yet released.
#ifndef FORETRACE_ANALYSIS_INFLIGHT_H
#define FORETRACE_ANALYSIS_INFLIGHT_H

#include "ir/model/Schedule.h"

namespace foretrace {

/// What ends the life of what a chunk saves of a micro-batch.
enum class Release : unsigned char {
  InputGradients,  ///< the gradients of its inputs are there
  WeightGradients, ///< those of its parameters, too
};

/// Micro-batches in flight while a step runs, its own included.
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

/// The steps of stage \p Stage at which most is in flight, for each kind of
/// chunk that runs and each direction: of two steps one of which has no more of
/// any kind than the other, only the other one; of equal ones the first. So
/// whatever kinds of chunks save, and whatever their steps need while they run,
/// the peak is at one of these steps. \p KindOf has the kind of each chunk,
/// from 0. Takes the time of what is different in the program of the stage,
/// whatever the number of micro-batches is.
std::vector<InFlight> heaviestSteps(const ir::Schedule &S, int64_t Stage,
                                    llvm::ArrayRef<unsigned> KindOf,
                                    Release At = Release::WeightGradients);

/// The most micro-batches of all chunks that stage \p Stage has in flight.
int64_t peakInFlight(const ir::Schedule &S, int64_t Stage,
                     Release At = Release::WeightGradients);

} // namespace foretrace

#endif
