// SPDX-License-Identifier: Apache-2.0
//
// How many micro-batches a stage has on their way at most.
#ifndef FORETRACE_ANALYSIS_INFLIGHT_H
#define FORETRACE_ANALYSIS_INFLIGHT_H

#include "ir/model/Schedule.h"

namespace foretrace {

/// What ends the life of what a chunk keeps of a micro-batch.
enum class Release : unsigned char {
  InputGradients,  ///< the gradients of its inputs are there
  WeightGradients, ///< those of its parameters, too
};

/// Micro-batches that a stage has run forward and not yet released.
struct InFlight {
  int64_t Count = 0; ///< of all chunks
  llvm::SmallVector<int64_t, 4> OfChunk;
};

/// What a chunk weighs: what a micro-batch keeps in it, and what its steps need
/// besides while they run, the kept of their micro-batch included in neither.
struct ChunkLoad {
  int64_t Kept = 1, Forward = 0, Backward = 0;
};

/// The step at which a stage holds most.
struct HeaviestStep {
  InFlight Kept;                ///< that of the step itself included
  std::optional<ir::Action> At; ///< nothing if the stage runs no step
  __int128 Load = 0;
};

/// The first one of stage \p Stage; \p Chunks are the loads of its chunks, none
/// negative. Takes the time of what is different in its program, whatever the
/// number of micro-batches is.
HeaviestStep heaviestStep(const ir::Schedule &S, int64_t Stage,
                          llvm::ArrayRef<ChunkLoad> Chunks,
                          Release At = Release::WeightGradients);

/// The most that stage \p Stage has on their way, when it is first so.
InFlight mostInFlight(const ir::Schedule &S, int64_t Stage,
                      Release At = Release::WeightGradients);
inline int64_t peakInFlight(const ir::Schedule &S, int64_t Stage,
                            Release At = Release::WeightGradients) {
  return mostInFlight(S, Stage, At).Count;
}

} // namespace foretrace

#endif
