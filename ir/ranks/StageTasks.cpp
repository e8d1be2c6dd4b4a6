// SPDX-License-Identifier: Apache-2.0
#include "ir/ranks/StageTasks.h"
#include "ir/model/OpKinds.h"
#include "ir/model/Ranks.h"
#include "ir/ranks/StepOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

int64_t TaskPeer::rank(const RankMap &Map, int64_t Rank) const {
  if (!IsRelative)
    return Map.at(Rank, Axes, Position);
  const int64_t Length = Map.lengthOf(Axes);
  return Map.at(Rank, Axes,
                (Map.position(Rank, Axes) + Position + Length) % Length);
}

static bool isForwardStep(ActionKind K) { return K == ActionKind::Forward; }

StageTasks::StageTasks(const Program &P, int64_t Stage)
    : P(P), Stage(Stage), S(P.Schedule), HasUnits(gathersByUnit(P)),
      Dones(static_cast<size_t>(S.Chunks * S.MicroBatches)) {
  const ir::Stage &Of = stageAt(P.Stages, Stage);
  std::vector<int64_t> Layers; // before each part
  int64_t Before = 0;
  for (int64_t Part = 0; Part < S.parts(); ++Part) {
    Layers.push_back(Before);
    const Schedule::Place At = S.placeOf(Part);
    Before += layerCount(stageAt(P.Stages, At.Stage).layersOf(At.Chunk));
  }
  for (int64_t Chunk = 0; Chunk < S.Chunks; ++Chunk) {
    ChunkTasks &To = Chunks.emplace_back();
    To.FirstLayer = Layers[static_cast<size_t>(S.partOf(Stage, Chunk))];
    addLayers(To, Of.layersOf(Chunk));
  }
}

/// The place of a tensor among those of a sample that ranks of tp get together,
/// before the forward pass (Megatron-LM, get_batch_on_this_tp_rank of
/// training/utils.py, since core 0.18 of core/utils.py). Up to core 0.15 the
/// last stage gets tokens and positions for multi-token prediction first.
static size_t placeInSample(const Program &P, llvm::StringRef Name,
                            bool IsFirstPart) {
  const MegatronVersion Release = *P.Spec.Parallel.Megatron;
  const bool IsMaskLast = Release >= MegatronVersion::V0_18;
  const llvm::StringRef Order[] = {
      "tokens", "labels", "loss_mask",
      IsMaskLast ? "position_ids" : "attention_mask",
      IsMaskLast ? "attention_mask" : "position_ids"};
  if (Release < MegatronVersion::V0_16 && !IsFirstPart &&
      Name == "position_ids")
    Name = "tokens";
  return static_cast<size_t>(llvm::find(Order, Name) - std::begin(Order));
}

void StageTasks::orderReads(ChunkTasks &Of) const {
  for (const auto &[Layer, L] : llvm::enumerate(Of.Layers))
    for (OpId I : L.Of->reads())
      Of.Reads.push_back({Layer, I});
  llvm::stable_sort(Of.Reads, [&](const Read &A, const Read &B) {
    auto Place = [&](const Read &R) {
      const Block &In = Of.Layers[R.Layer].Of->block();
      return placeInSample(P, In.Values[In.Ops[R.Of].Operands.front()].Name,
                           Of.FirstLayer == 0);
    };
    return Place(A) < Place(B);
  });
}

const BlockTasks &StageTasks::plan(BlockId Of) {
  return Plans.try_emplace(Of.Index, P, P.Blocks[Of]).first->second;
}

StageTasks::Done &StageTasks::done(const Action &A) {
  return Dones[static_cast<size_t>(A.Chunk * S.MicroBatches + A.MicroBatch)];
}

/// The step that ran, or runs, an op for a micro-batch.
void StageTasks::addOp(const Action &A, size_t Layer, OpId Of, Ids &To) {
  const LayerTasks &L = Chunks[static_cast<size_t>(A.Chunk)].Layers[Layer];
  const ActionKind Half = L.Of->action(Of);
  const Done &Has = done(A);
  auto First = [&](ActionKind K) { return Has.First[static_cast<size_t>(K)]; };
  const bool IsWhole =
      runs(ActionKind::Backward, Half) && First(ActionKind::Backward) >= 0;
  const ActionKind Step = IsWhole ? ActionKind::Backward : Half;
  assert(First(Step) >= 0 && "verified: it runs before it is used");
  if (llvm::is_contained(L.Of->reads(), Of)) {
    const std::vector<Read> &Reads = Chunks[static_cast<size_t>(A.Chunk)].Reads;
    To.push_back(Has.Read +
                 (llvm::find(Reads, Read{Layer, Of}) - Reads.begin()));
    return;
  }
  if (const UnitPart Part = L.Of->part(Of); Part != UnitPart::None) {
    const ChunkTasks &In = Chunks[static_cast<size_t>(A.Chunk)];
    if (isFromBefore(A, Part))
      return;
    const auto Calls = callsOf(In, unitOf(In, Layer, Part), Part);
    const auto *Call = llvm::find_if(Calls, [&](const UnitCall &C) {
      return C.Over == L.Of->block().Ops[Of].Group;
    });
    const bool IsAhead = In.Ahead != 0 && Part == UnitPart::GatherAgain;
    To.push_back(First(IsAhead ? ActionKind::Forward : Step) +
                 L.Unit[static_cast<size_t>(Part)] + (Call - Calls.begin()));
    return;
  }
  const bool IsAgain = L.Of->block().Ops[Of].Phase == Phase::Recompute;
  const int64_t Own =
      (IsAgain ? L.Again : L.Before)[static_cast<size_t>(Step)] +
      L.Of->first(Of, Step) + L.Of->width(Of) - 1;
  const Within &Other = isForwardStep(Step) ? Forward : Backward;
  To.push_back(First(Step) + Own +
               (A.MicroBatch == Other.MicroBatch ? Other.before(Own) : 0));
}

void StageTasks::addSources(const Action &A, size_t Layer,
                            const TaskSources &Of, Ids &To) {
  const std::vector<LayerTasks> &Layers =
      Chunks[static_cast<size_t>(A.Chunk)].Layers;
  for (const TaskSource &From : Of) {
    const bool IsForward = From.From == TaskSource::Kind::Input;
    if (From.From == TaskSource::Kind::Op) {
      addOp(A, Layer, OpId{From.Index}, To);
    } else if (IsForward ? Layer == 0 : Layer + 1 == Layers.size()) {
      addEntry(A, IsForward, To);
    } else {
      const size_t Other = IsForward ? Layer - 1 : Layer + 1;
      const BlockTasks &Plan = *Layers[Other].Of;
      const Signature &Made = Plan.block().Signature;
      addSources(A, Other,
                 Plan.sources((IsForward ? Made.Outputs
                                         : Made.InputGradients)[From.Index]),
                 To);
    }
  }
}

/// Adds the sources of the input of a chunk: from another stage, from another
/// chunk, or not at all at the ends of the model.
void StageTasks::addEntry(const Action &A, bool IsForward, Ids &To) {
  const std::optional<int64_t> There =
      S.neighbour(Stage, A.Chunk, /*IsNext=*/!IsForward);
  if (!There)
    return;
  if (*There != Stage) {
    const ActionKind K =
        IsForward ? ActionKind::RecvForward : ActionKind::RecvBackward;
    To.push_back(done(A).First[static_cast<size_t>(K)]);
    return;
  }
  Action Other = A;
  const int64_t Part = S.partOf(Stage, A.Chunk) + (IsForward ? -1 : 1);
  Other.Chunk = S.placeOf(Part).Chunk;
  addExit(Other, IsForward, To);
}

/// Adds the sources of the output of a chunk. Without layers it is the input.
void StageTasks::addExit(const Action &A, bool IsForward, Ids &To) {
  const std::vector<LayerTasks> &Layers =
      Chunks[static_cast<size_t>(A.Chunk)].Layers;
  if (Layers.empty())
    return addEntry(A, IsForward, To);
  const size_t Last = IsForward ? Layers.size() - 1 : 0;
  const BlockTasks &Plan = *Layers[Last].Of;
  const Signature &Made = Plan.block().Signature;
  for (ValueId V : IsForward ? Made.Outputs : Made.InputGradients)
    addSources(A, Last, Plan.sources(V), To);
}

/// Sorted, each once.
static void tidy(llvm::SmallVectorImpl<int64_t> &Ids) {
  llvm::sort(Ids);
  Ids.erase(std::unique(Ids.begin(), Ids.end()), Ids.end());
}

/// A task that is needed for data and for order counts as data.
void StageTasks::visit(Task &T, Visitor Visit) {
  tidy(T.Data);
  tidy(T.Control);
  llvm::erase_if(T.Control, [&](int64_t Id) {
    return std::binary_search(T.Data.begin(), T.Data.end(), Id);
  });
  IsOver |= !Visit(Next++, T);
}

void StageTasks::message(const Action &A, Visitor Visit) {
  Task T;
  T.Kind = isSend(A.Kind) ? TaskKind::Send : TaskKind::Receive;
  T.Action = A.Kind;
  T.MicroBatch = A.MicroBatch;
  T.Chunk = A.Chunk;
  T.Peer = {{Axis::Pp}, A.Peer};
  T.Tag = A.Tag;
  const PipelineMessage M = *messageOf(S, Stage, A);
  T.Boundary = boundaryAfter(P, M.Part, M.IsForward);
  T.Size = boundaryBytes(P, T.Boundary);
  T.Control = Communicated;
  if (isSend(A.Kind))
    addExit(A, isForward(A.Kind), T.Data);
  done(A).First[static_cast<size_t>(A.Kind)] = Next;
  visit(T, Visit);
}

/// Runs the rounds of a ring: a rank passes on what it received last, to the
/// next rank for a forward op and to the previous one for a backward op
/// (Transformer Engine, context_parallel.py, AttnFuncWithCPAndKVP2P).
void StageTasks::ring(const Op &Of, Task &T, Visitor Visit) {
  const int64_t Rounds = Of.Group.size(P.Mesh) - 1;
  const bool IsForward =
      !Of.For.isValid() || T.In->Ops[Of.For].Derivative == Derivative::None;
  const int64_t To = IsForward ? 1 : -1;
  T.Size = T.Size.dividedExactly(Rounds);
  for (int64_t Round = 0; Round < Rounds; ++Round) {
    T.Tag = 2 * S.parts() * S.MicroBatches + RingRounds++; // above stages' tags
    T.Control = Communicated;
    T.Kind = TaskKind::Send;
    T.Peer = {Of.Group.Axes, To, /*IsRelative=*/true};
    const int64_t Sent = Next;
    visit(T, Visit);
    Task Received = T;
    Received.Kind = TaskKind::Receive;
    Received.Peer.Position = -To;
    Received.Data.clear();
    Received.Control = Communicated;
    T.Data = {Next};
    visit(Received, Visit);
    Communicated = {Sent, Sent + 1};
  }
}

/// A message of a collective.
void StageTasks::collective(const Op &Of, Bytes Size, Task T, Visitor Visit) {
  T.Of = &Of;
  T.Kind = TaskKind::Collective;
  T.Size = Size;
  T.Control = Communicated;
  Communicated = {Next};
  visit(T, Visit);
}

void StageTasks::op(const BlockTasks &Plan, OpId Of, Task &T, Visitor Visit) {
  const Op &O = Plan.block().Ops[Of];
  T.Of = &O;
  if (!isCollective(O.Kind)) {
    T.Kind = TaskKind::Compute;
    T.Control = Computed;
    Computed = {Next};
    return visit(T, Visit);
  }
  if (O.Kind == OpKind::Ring) {
    T.Size = messageBytes(P, O);
    return ring(O, T, Visit);
  }
  if (gathersEach(P, O))
    return gatherEach(O, Plan.block(), T, Visit);
  for (const Bytes Size : messagesOf(P, O))
    collective(O, Size, T, Visit);
}

/// An op of a layer in a step.
void StageTasks::opOf(const Action &A, size_t Layer, OpId Of, Visitor Visit) {
  const ChunkTasks &Chunk = Chunks[static_cast<size_t>(A.Chunk)];
  const BlockTasks &Plan = *Chunk.Layers[Layer].Of;
  Task T;
  T.In = &Plan.block();
  T.Action = A.Kind;
  T.MicroBatch = A.MicroBatch;
  T.Chunk = A.Chunk;
  T.Layer = Chunk.FirstLayer + static_cast<int64_t>(Layer);
  for (ValueId V : T.In->Ops[Of].Operands)
    addSources(A, Layer, Plan.sources(V), T.Data);
  op(Plan, Of, T, Visit);
}

void StageTasks::layer(const Action &A, size_t Layer, LayerPart Part,
                       Visitor Visit) {
  const LayerTasks &L = Chunks[static_cast<size_t>(A.Chunk)].Layers[Layer];
  const BlockTasks &Plan = *L.Of;
  for (size_t N = 0; N < Plan.block().Ops.size(); ++N) {
    const OpId I = Plan.block().Ops.idAt(N);
    const bool IsAgain = Plan.block().Ops[I].Phase == Phase::Recompute;
    if (!runs(A.Kind, Plan.action(I)) ||
        (Part != LayerPart::Whole && IsAgain != (Part == LayerPart::Again)))
      continue;
    const int64_t Own =
        (IsAgain ? L.Again : L.Before)[static_cast<size_t>(A.Kind)] +
        Plan.first(I, A.Kind);
    if (A.Kind == ActionKind::Forward)
      sendAt(Forward, A, Layer, N, Own, Visit);
    if (Plan.width(I) != 0 && Plan.part(I) == UnitPart::None &&
        !llvm::is_contained(Plan.reads(), I))
      opOf(A, Layer, I, Visit);
    if (A.Kind == ActionKind::Backward)
      sendAt(Backward, A, Layer, N, Own + Plan.width(I), Visit);
  }
}

/// A chunk reads the sample that its own layers need, or all the same one that
/// another chunk does.
void StageTasks::readSample(Action A, Visitor Visit) {
  done(A).Read = Next;
  if (readsForEachChunk(P))
    for (const auto &[Chunk, Of] : llvm::enumerate(Chunks))
      if (!Of.Reads.empty())
        A.Chunk = static_cast<int64_t>(Chunk);
  for (const Read &R : Chunks[static_cast<size_t>(A.Chunk)].Reads)
    opOf(A, R.Layer, R.Of, Visit);
}

void StageTasks::compute(const Action &A, Visitor Visit) {
  const ChunkTasks &Chunk = Chunks[static_cast<size_t>(A.Chunk)];
  if (isForwardStep(A.Kind))
    readSample(A, Visit);
  const bool GathersAhead =
      isForwardStep(A.Kind) && !isFromBefore(A, UnitPart::Gather);
  done(A).First[static_cast<size_t>(A.Kind)] =
      Next + (GathersAhead ? Chunk.Ahead : 0);
  walkStep(
      Chunk, isForwardStep(A.Kind),
      [&](UnitLayers Of, UnitPart Part) {
        if (!isFromBefore(A, Part))
          unit(A, Of, Part, Visit);
      },
      [&](size_t Layer, LayerPart Part) {
        if (!IsOver)
          layer(A, Layer, Part, Visit);
      });
}

/// A step of a chunk, with what is gathered before it and reduced after it.
void StageTasks::step(const Action &A, Visitor Visit) {
  if (A.Kind == ActionKind::Forward)
    if (auto At = Gathers.find(Forwards++); At != Gathers.end())
      earlyOf(At->second, /*IsGather=*/true, Visit);
  compute(A, Visit);
  if (A.Kind == ActionKind::Backward)
    if (auto At = Reductions.find(Backwards++); At != Reductions.end())
      earlyOf(At->second, /*IsGather=*/false, Visit);
}

void StageTasks::call(llvm::ArrayRef<Action> Actions, Visitor Visit) {
  if (!isMessage(Actions.front().Kind)) {
    for (const Action &A : Actions)
      if (A.Kind == ActionKind::Step)
        update(Visit);
      else if (isCompute(A.Kind))
        step(A, Visit);
    return;
  }
  const int64_t First = Next;
  for (const Action &A : Actions)
    message(A, Visit);
  Communicated.clear();
  for (int64_t Id = First; Id < Next; ++Id)
    Communicated.push_back(Id);
  // A combined call blocks its rank, so that later steps wait for its messages.
  if (S.Transport == Transport::Combined)
    Computed.append(Communicated);
}

void StageTasks::forEach(Visitor Visit) {
  const Block &Step = plan(stageAt(P.Stages, Stage).Step).block();
  for (size_t N = 0; N < Step.Ops.size(); ++N)
    StepTasks.add(-1);
  timeChunks();
  timeReductions();
  timeGathers();
  for (int64_t Chunk = 0; gathersFirst() && S.Chunks > 1 && Chunk < 2; ++Chunk)
    if (!gathersInStep(Chunk))
      earlyOf(Chunk, /*IsGather=*/true, Visit);
  StageCalls Calls(S, Stage);
  while (!IsOver && Calls.next())
    call(Calls.actions(), Visit);
}
