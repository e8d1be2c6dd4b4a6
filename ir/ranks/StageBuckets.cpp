// SPDX-License-Identifier: Apache-2.0
//
// Buckets of Megatron-LM's DistributedDataParallel in the tasks of a stage:
// when their gradients are reduced and their parameters gathered.
#include "ir/model/OpKinds.h"
#include "ir/ranks/StageTasks.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Whether updated parameters are gathered when the next iteration begins,
/// which is alike for every iteration.
bool StageTasks::gathersFirst() const {
  const ParallelSpec &Par = P.Spec.Parallel;
  return Par.OverlapParamGather.is(true) && *Par.Zero == 1;
}

bool StageTasks::readsExpert(const Op &O, const Block &In) const {
  return llvm::any_of(O.Operands, [&](ValueId V) {
    const Value &Of = In.Values[V];
    return Of.Kind == ValueKind::Param && Of.Type.indexOf(DimKind::Expert) >= 0;
  });
}

static bool isOfExperts(const Op &O) {
  return llvm::is_contained(O.Group.Axes, Axis::Edp);
}

/// The gathers of parameters that the last iteration has updated: those of
/// experts when the first of them is used, all others before the first layer
/// (Megatron-LM, distributed_data_parallel.py, _make_forward_pre_hook).
void StageTasks::gatherUpdated(bool IsExpert, Visitor Visit) {
  const BlockTasks &Plan = plan(stageAt(P.Stages, Stage).Step);
  const size_t Count = Plan.block().Ops.size();
  for (size_t N = Count; N-- > 0;) {
    // Buckets are in the order of gradients, the last layer first.
    const OpId I = Plan.block().Ops.idAt(N);
    const Op &O = Plan.block().Ops[I];
    if (O.Kind != OpKind::AllGather || Plan.width(I) == 0)
      continue;
    if (isOfExperts(O) == IsExpert)
      early(I, Visit);
    else
      Start.AreExpertsDue = true;
  }
  Start.AreDue = false;
}

/// An op of the step that runs before it.
void StageTasks::early(OpId Of, Visitor Visit) {
  const BlockTasks &Plan = plan(stageAt(P.Stages, Stage).Step);
  if (Plan.width(Of) == 0)
    return;
  Task T;
  T.In = &Plan.block();
  T.Action = ActionKind::Step;
  const bool IsGather = T.In->Ops[Of].Kind == OpKind::AllGather;
  if (!IsGather)
    T.Data = Computed;
  const int64_t First = Next;
  op(Plan, Of, T, Visit);
  if (IsGather)
    Computed.push_back(First);
  StepTasks[Of] = Next - 1;
}

/// When chunks are reduced and gathered: by the number of a step of either
/// direction, as all stages do it at the same time (Megatron-LM, schedules.py,
/// forward_backward_pipelining_with_interleaving; grad_sync_func,
/// param_sync_func).
void StageTasks::timeChunks() {
  if (S.Chunks == 1)
    return;
  const bool IsReduced = P.Spec.Parallel.OverlapGradReduce.is(true);
  std::vector<int64_t> Firsts(static_cast<size_t>(S.Chunks), -1),
      Lasts = Firsts;
  int64_t Forwards = 0, Backwards = 0;
  forEachAction(S, Stage, [&](const Action &A) {
    const auto Chunk = static_cast<size_t>(A.Chunk);
    if (A.Kind == ActionKind::Forward && Firsts[Chunk] < 0)
      Firsts[Chunk] = Forwards;
    if (A.Kind == ActionKind::Backward)
      Lasts[Chunk] = Backwards++;
    Forwards += A.Kind == ActionKind::Forward;
    return true;
  });
  for (int64_t Chunk = 0; Chunk < S.Chunks; ++Chunk) {
    if (const int64_t Last = Lasts[static_cast<size_t>(Chunk)];
        IsReduced && Last >= 0)
      Reductions.try_emplace(Last + Stage, Chunk);
    if (gathersFirst() && Chunk > 1)
      Gathers.try_emplace(Firsts[static_cast<size_t>(Chunk - 1)] - Stage,
                          Chunk);
  }
}

/// Reduces, or gathers, a chunk.
void StageTasks::earlyOf(int64_t Chunk, bool IsGather, Visitor Visit) {
  const Block &Step = plan(stageAt(P.Stages, Stage).Step).block();
  for (size_t N = 0; N < Step.Ops.size(); ++N)
    if (const OpId I = Step.Ops.idAt(N);
        Step.Ops[I].Chunk == Chunk &&
        (Step.Ops[I].Kind == OpKind::AllGather) == IsGather)
      early(I, Visit);
}
