// SPDX-License-Identifier: Apache-2.0
//
// In which order a pipeline stage runs its micro-batches and chunks. Stored in
// closed form: its size depends neither on stages nor on micro-batches.
#ifndef FORETRACE_IR_SCHEDULE_H
#define FORETRACE_IR_SCHEDULE_H

#include "ir/Spec.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <cstdint>
#include <optional>

namespace foretrace::ir {

enum class SchedulePhase : unsigned char {
#define SCHEDULE_PHASE(ENUMERATOR, SPELLING, DOC) ENUMERATOR,
#include "ir/Actions.def"
};
llvm::StringRef getName(SchedulePhase P);

enum class ActionKind : unsigned char {
#define ACTION(ENUMERATOR, SPELLING, DOC) ENUMERATOR,
#include "ir/Actions.def"
};
llvm::StringRef getName(ActionKind K);

/// One thing a stage does.
struct Action {
  ActionKind Kind = ActionKind::Step;
  SchedulePhase Phase = SchedulePhase::Finalize;
  int64_t MicroBatch = 0; ///< from 0; of what is sent or received, too
  int64_t Chunk = 0;      ///< of this stage, from 0
  /// Starts together with the action before it: Megatron-LM sends and receives
  /// in one combined call where both are due.
  bool IsFused = false;
};

/// A message between stages. Its two ends, which call it by different actions
/// and chunks, agree on these.
struct PipelineMessage {
  bool IsForward;
  int64_t MicroBatch;
  /// Of the whole model, from 0: the chunk that sends forward or receives
  /// backward.
  int64_t ModelChunk;
};

/// The schedule of every stage. A stage runs `warmup` forward steps, then one
/// forward and one backward step in turn, then the backward steps that are
/// left; a step is one chunk of one micro-batch.
struct Schedule {
  ScheduleKind Kind = ScheduleKind::None;
  int64_t Stages = 1; ///< pp
  int64_t Chunks = 1; ///< of a stage, vpp
  int64_t Steps = 1;  ///< forward steps of a stage: micro-batches x chunks
  /// Micro-batches that an interleaved stage takes through a chunk before the
  /// next one; the last group may be smaller.
  int64_t Group = 1;
  /// Forward steps before the first backward one:
  /// min(WarmupBase - WarmupPerStage * stage, Steps).
  int64_t WarmupBase = 0, WarmupPerStage = 0;

  int64_t microBatches() const { return Steps / Chunks; }
  int64_t warmup(int64_t Stage) const {
    return std::min(WarmupBase - WarmupPerStage * Stage, Steps);
  }
};

/// The message that an action of stage \p Stage sends or receives, if it does.
std::optional<PipelineMessage> messageOf(const Schedule &S, int64_t Stage,
                                         const Action &A);

/// What stage \p Stage does in one iteration, in order, unfolded one at a time.
/// Stops when \p Visit returns false.
/// Narayanan et al., arXiv 2104.04473, section 2.2 (1F1B and interleaved);
/// Huang et al., arXiv 1811.06965 (GPipe); Megatron-LM,
/// pipeline_parallel/schedules.py, for groups and for what is received when,
/// without overlap_p2p_comm: that changes no order of steps, but messages
/// forward and backward are calls of their own then.
void forEachAction(const Schedule &S, int64_t Stage,
                   llvm::function_ref<bool(const Action &)> Visit);

} // namespace foretrace::ir

#endif
