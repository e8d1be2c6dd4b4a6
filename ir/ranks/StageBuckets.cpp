// SPDX-License-Identifier: Apache-2.0
//
// Buckets of Megatron-LM's DistributedDataParallel in the tasks of a stage:
// when their gradients are reduced and their parameters gathered.
#include "ir/model/Measure.h"
#include "ir/model/OpKinds.h"
#include "ir/ranks/StageTasks.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::ir;

/// Returns whether updated parameters are gathered when the next iteration
/// begins, which is alike for every iteration.
bool StageTasks::gathersFirst() const {
  const ParallelSpec &Par = P.Spec.Parallel;
  return Par.OverlapParamGather.is(true) && *Par.Zero == 1;
}

/// Returns whether the first of several chunks is gathered while others are
/// updated (optimizer/optimizer.py, ChainedOptimizer._step).
bool StageTasks::gathersInStep(std::optional<int64_t> Chunk) const {
  return S.Chunks > 1 && Chunk == 0 &&
         P.Spec.Parallel.OverlapParamGatherWithOptimizerStep.is(true);
}

static bool isOfExperts(const Op &O) {
  return llvm::is_contained(O.Group.Axes, Axis::Edp);
}

/// An op of the step that runs before it, or one message of it.
void StageTasks::early(OpId Of, std::optional<Bytes> Message, Visitor Visit) {
  const BlockTasks &Plan = plan(stageAt(P.Stages, Stage).Step);
  if (Plan.width(Of) == 0)
    return;
  Task T;
  T.In = &Plan.block();
  T.Action = ActionKind::Step;
  const bool IsGather = T.In->Ops[Of].Kind == OpKind::AllGather;
  if (!IsGather)
    T.Data = Computed;
  if (Message)
    collective(T.In->Ops[Of], *Message, T, Visit);
  else
    op(Plan, Of, T, Visit);
  if (IsGather)
    Computed.push_back(Next - 1);
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
      early(I, std::nullopt, Visit);
}

/// Returns the place of the first parameter of a message: the op that uses it
/// first, with its gather, or the op that makes its gradient.
std::pair<size_t, size_t> StageTasks::placeOf(const BucketMessage &M,
                                              bool IsForward) const {
  const auto &Layers = Chunks.front().Layers;
  // A text of the IR can have others than `sync` writes.
  const size_t Layer =
      std::min(static_cast<size_t>(M.Layer), Layers.size() - 1);
  const Block &B = Layers[Layer].Of->block();
  int64_t Number = 0;
  unsigned Param = 0;
  while (
      Param < B.Values.size() &&
      (B.Values[ValueId(Param)].Kind != ValueKind::Param || Number++ < M.Param))
    ++Param;
  size_t Last = 0;
  for (size_t N = 0; N < B.Ops.size(); ++N) {
    const OpId Id = B.Ops.idAt(N);
    const Op &O = B.Ops[Id];
    if (IsForward && llvm::is_contained(O.Operands, ValueId(Param))) {
      // Dispatchers send tokens to experts before that.
      const bool IsExpert =
          B.Values[ValueId(Param)].Type.indexOf(DimKind::Expert) >= 0;
      while (!IsExpert && N > 0 && B.Ops[B.Ops.idAt(N - 1)].For == Id)
        --N;
      return {Layer, N};
    }
    if (llvm::any_of(O.Results, [&](ValueId V) {
          return B.Values[V].GradientOf == ValueId(Param);
        }))
      Last = N;
  }
  return {Layer, Last};
}

/// Each bucket is reduced when its last gradient is there
/// (distributed_data_parallel.py, _make_backward_post_hook), if the stage is
/// the first one (schedules.py,
/// forward_backward_pipelining_without_interleaving).
void StageTasks::timeReductions() {
  if (S.Chunks > 1 || Stage != 0 || !P.Spec.Parallel.OverlapGradReduce.is(true))
    return;
  const Block &Step = plan(stageAt(P.Stages, Stage).Step).block();
  for (size_t N = 0; N < Step.Ops.size(); ++N) {
    const OpId I = Step.Ops.idAt(N);
    const Op &O = Step.Ops[I];
    if (O.Kind == OpKind::AllGather || O.Messages.empty())
      continue;
    for (const auto &[M, Size] :
         llvm::zip_equal(unfolded(O.Messages), messagesOf(P, O)))
      Backward.At[placeOf(M, /*IsForward=*/false)].push_back({I, Size});
  }
  forEachAction(S, Stage, [&](const Action &A) {
    if (A.Kind == ActionKind::Backward)
      Backward.MicroBatch = A.MicroBatch;
    return true;
  });
}

/// Gathers of one kind that have buckets: the first op that needs one starts
/// it, unless that has been done, and the next one (param_and_grad_buffer.py,
/// finish_param_sync).
void StageTasks::timeGathers(llvm::ArrayRef<OpId> Gathers) {
  const Block &Step = plan(stageAt(P.Stages, Stage).Step).block();
  std::vector<std::pair<OpId, Bytes>> Buckets;
  std::map<std::pair<size_t, size_t>, std::vector<size_t>> Uses;
  for (const OpId I : Gathers)
    for (const auto &[M, Size] : llvm::zip_equal(unfolded(Step.Ops[I].Messages),
                                                 messagesOf(P, Step.Ops[I]))) {
      Uses[placeOf(M, /*IsForward=*/true)].push_back(Buckets.size());
      Buckets.emplace_back(I, Size);
    }
  std::vector<bool> IsBegun(Buckets.size());
  auto Begin = [&](std::pair<size_t, size_t> Place, size_t Bucket) {
    if (!IsBegun[Bucket])
      Forward.At[Place].push_back(Buckets[Bucket]);
    IsBegun[Bucket] = true;
  };
  for (const auto &[Place, Used] : Uses)
    for (const size_t Bucket : llvm::reverse(Used)) {
      Begin(Place, Bucket);
      if (Bucket > 0)
        Begin(Place, Bucket - 1);
    }
}

/// The first op of a layer that reads a parameter of experts.
static std::optional<size_t> firstOfExperts(const Block &B) {
  for (size_t N = 0; N < B.Ops.size(); ++N)
    for (const ValueId V : B.Ops[B.Ops.idAt(N)].Operands)
      if (B.Values[V].Kind == ValueKind::Param &&
          B.Values[V].Type.indexOf(DimKind::Expert) >= 0)
        return N;
  return std::nullopt;
}

/// Parameters that the last iteration has updated are gathered when the first
/// of a bucket is used (distributed_data_parallel.py, _make_forward_pre_hook).
void StageTasks::timeGathers() {
  if (S.Chunks > 1 || !gathersFirst())
    return;
  const BlockTasks &Plan = plan(stageAt(P.Stages, Stage).Step);
  const Block &Step = Plan.block();
  llvm::SmallVector<OpId, 4> Of[2]; // of dense layers, and of experts
  for (size_t N = 0; N < Step.Ops.size(); ++N)
    if (const OpId I = Step.Ops.idAt(N);
        Step.Ops[I].Kind == OpKind::AllGather && Plan.width(I) != 0)
      Of[isOfExperts(Step.Ops[I])].push_back(I);
  Forward.MicroBatch = 0;
  for (auto &Gathers : Of) {
    if (llvm::none_of(Gathers,
                      [&](OpId I) { return Step.Ops[I].Messages.empty(); })) {
      timeGathers(Gathers);
      continue;
    }
    std::pair<size_t, size_t> Place;
    // A table comes before the layers on the first stage, else after them.
    if (!P.Spec.Model.Branch || Stage == 0)
      std::reverse(Gathers.begin(), Gathers.end());
    for (const auto &[Layer, L] : llvm::enumerate(Chunks.front().Layers))
      if (const auto First = firstOfExperts(L.Of->block());
          First && &Gathers == &Of[1]) {
        Place = {Layer, *First};
        break;
      }
    for (const OpId I : Gathers)
      Forward.At[Place].push_back({I, messageBytes(P, Step.Ops[I])});
  }
}

/// Sends the messages that come at this place of a step, after \p Own of the
/// step's own tasks.
void StageTasks::sendAt(Within &Of, const Action &A, size_t Layer, size_t Op,
                        int64_t Own, Visitor Visit) {
  const auto At =
      A.MicroBatch == Of.MicroBatch ? Of.At.find({Layer, Op}) : Of.At.end();
  if (At == Of.At.end())
    return;
  const int64_t Before = Of.Sent.empty() ? 0 : Of.Sent.back().second,
                First = Next;
  for (const auto &[I, Message] : At->second)
    early(I, Message, Visit);
  Of.Sent.emplace_back(Own, Before + Next - First);
}

int64_t StageTasks::Within::before(int64_t Own) const {
  const auto After = llvm::partition_point(
      Sent, [&](const auto &S) { return S.first <= Own; });
  return After == Sent.begin() ? 0 : std::prev(After)->second;
}

/// An operand from outside the step depends on all tasks before it.
void StageTasks::update(Visitor Visit) {
  const BlockTasks &Plan = plan(stageAt(P.Stages, Stage).Step);
  const Block &B = Plan.block();
  llvm::SmallVector<int64_t, 4> Before = Computed;
  Before.append(Communicated);
  for (size_t N = 0; N < B.Ops.size(); ++N) {
    const OpId I = B.Ops.idAt(N);
    if (Plan.width(I) == 0 || StepTasks[I] >= 0 ||
        (gathersFirst() && B.Ops[I].Kind == OpKind::AllGather &&
         !gathersInStep(B.Ops[I].Chunk)))
      continue;
    Task T;
    T.In = &B;
    T.Action = ActionKind::Step;
    for (ValueId V : B.Ops[I].Operands) {
      const TaskSources &Of = Plan.sources(V);
      for (const TaskSource &From : Of)
        T.Data.push_back(StepTasks[OpId{From.Index}]);
      if (Of.empty())
        T.Data.append(Before);
    }
    op(Plan, I, T, Visit);
    StepTasks[I] = Next - 1;
  }
  for (const auto &[Chunk, C] : llvm::enumerate(Chunks))
    for (const UnitOfLayers &U : C.Gathers)
      if (C.Ahead != 0)
        unit({ActionKind::Step, SchedulePhase::Finalize, -1,
              static_cast<int64_t>(Chunk)},
             U, UnitPart::Gather, Visit);
}
