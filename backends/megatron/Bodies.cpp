// SPDX-License-Identifier: Apache-2.0
#include "backends/megatron/Bodies.h"
#include "backends/megatron/CallShapes.h"
#include "ir/model/Boundary.h"
#include "ir/model/OpKinds.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace foretrace;
using namespace foretrace::megatron;

namespace {

/// The row that runs a block.
enum class Direction : unsigned char { Forward, Backward };

class BodyMaker {
public:
  BodyMaker(ir::ExprScope P, const ir::Stage &S, Instrumentation How)
      : P(P), S(S), How(How) {}

  StageBodies run();

private:
  RowBody getBatch() const;
  RowBody loss() const;
  RowBody message(RowKind Kind) const;
  RowBody chunk(Direction Of, const ir::LayerSequence &Layers);
  const ir::Value *inputOf(const BatchCall &C) const;
  const std::vector<SubOperation> &callsOf(Direction Of, ir::BlockId B);

  ir::ExprScope P;
  const ir::Stage &S;
  const Instrumentation How;
  std::map<std::pair<Direction, unsigned>, std::vector<SubOperation>> Known;
};

/// The calls of one execution of a block, forward or backward.
class CallMaker {
public:
  CallMaker(ir::ExprScope P, const ir::Block &B, Instrumentation How)
      : P(P), B(B), How(How) {}

  std::vector<SubOperation> run(Direction Of);

private:
  void add(const CallText &Call, const ir::Op &O);
  void addPending();

  ir::ExprScope P;
  const ir::Block &B;
  const Instrumentation How;
  std::vector<SubOperation> Calls;
  /// Collectives that serve one op and are not yet among the calls.
  std::vector<std::pair<const CollectiveRule *, const ir::Op *>> Pending;
};

} // namespace

/// The row in which an op of a layer happens.
static Direction stepOf(const ir::Op &O) {
  return O.Phase == ir::Phase::Forward ? Direction::Forward
                                       : Direction::Backward;
}

/// Returns the ranks that take part. Experts that are sharded over several
/// ranks span these, too, whichever group the trace names.
static const ir::ProcessGroup &ranksOf(const CallText &Call, const ir::Op &O) {
  const bool IsOverBoth =
      O.Group.spans(ir::Axis::Etp) && Call.Group == GroupKind::Exp;
  return IsOverBoth ? processGroup("etp-ep") : processGroup(Call.Group);
}

void CallMaker::add(const CallText &Call, const ir::Op &O) {
  Calls.push_back({Call.Function, Call.Name, tensorOf(Call, P, B, O, How),
                   Call.Group, &ranksOf(Call, O), Call.Comm, &O});
}

void CallMaker::addPending() {
  llvm::stable_sort(Pending, llvm::less_first());
  for (auto [Rule, O] : Pending)
    add(Rule->Call, *O);
  Pending.clear();
}

std::vector<SubOperation> CallMaker::run(Direction Of) {
  for (const ir::Op &O : B.Ops) {
    if (stepOf(O) != Of)
      continue;
    if (!isCollective(O.Kind)) {
      addPending();
      forEachAddedCall(P, B, O, How,
                       [&](const CallText &Call) { add(Call, O); });
      continue;
    }
    if (!Pending.empty() && Pending.back().second->For != O.For)
      addPending();
    const CollectiveRule *Rule = findRule(P, B, O, How);
    // Input data is broadcast in get_batch.
    if (Rule && Rule->Fate == Fate::Logged && O.Kind != ir::OpKind::Broadcast)
      Pending.emplace_back(Rule, &O);
  }
  addPending();
  return std::move(Calls);
}

const std::vector<SubOperation> &BodyMaker::callsOf(Direction Of,
                                                    ir::BlockId B) {
  auto [It, IsNew] = Known.try_emplace({Of, B.Index});
  if (IsNew)
    It->second = CallMaker(P, P->Blocks[B], How).run(Of);
  return It->second;
}

RowBody BodyMaker::chunk(Direction Of, const ir::LayerSequence &Layers) {
  auto IsSilent = [&](const ir::BlockRun &R) {
    return callsOf(Of, R.Block).empty();
  };
  std::vector<ir::BlockId> Order;
  for (const ir::LayerGroup &G : Layers) {
    const int64_t Periods = llvm::all_of(G.Runs, IsSilent) ? 0 : G.Periods;
    for (int64_t Period = 0; Period < Periods; ++Period)
      for (const ir::BlockRun &R : G.Runs)
        Order.insert(Order.end(), static_cast<size_t>(R.Count), R.Block);
  }
  const bool IsForward = Of == Direction::Forward;
  if (!IsForward)
    std::reverse(Order.begin(), Order.end());
  RowBody Body;
  Body.Kind = IsForward ? RowKind::ForwardStep : RowKind::BackwardStep;
  Body.Description = simulation(How);
  Body.Why = P->Spec.Model.LayersRange;
  for (ir::BlockId B : Order)
    llvm::append_range(Body.SubOperations, callsOf(Of, B));
  return Body;
}

/// All parts of a model hand on the same activation.
RowBody BodyMaker::message(RowKind Kind) const {
  RowBody Body;
  Body.Kind = Kind;
  Body.Group = GroupKind::Pp;
  for (const ir::Value *Sent :
       ir::valuesOf(P, ir::boundaryAfter(P, 0, /*IsForward=*/true)))
    Body.Tensor = {localExtents(P, Sent->Type, Sent->Layout),
                   Sent->Type.Element};
  Body.Why = P->Spec.Model.Hidden.Range;
  return Body;
}

/// Returns whether \p C broadcasts \p V. A mask that the job does not ask for
/// has the samples of the input it is read with.
static bool isReadBy(const BatchCall &C, const ir::Value &V) {
  const bool IsOfSamples = V.Kind == ir::ValueKind::Input &&
                           V.Type.Dims.size() == 2 &&
                           V.Type.indexOf(ir::DimKind::Seq) == 0;
  return V.Name == C.Name || (C.Of == BatchBlock::Either && IsOfSamples);
}

/// The input of this stage that \p C broadcasts; null if it has none.
const ir::Value *BodyMaker::inputOf(const BatchCall &C) const {
  auto Find = [&](const ir::LayerGroup &End) -> const ir::Value * {
    for (const ir::Value &V : P->Blocks[End.Runs.front().Block].Values)
      if (isReadBy(C, V))
        return &V;
    return nullptr;
  };
  const ir::Value *Found = nullptr;
  if (!S.ReceivesForward && C.Of != BatchBlock::Head)
    Found = Find(P->Layers.front());
  if (!Found && !S.SendsForward && C.Of != BatchBlock::Embedding)
    Found = Find(P->Layers.back());
  return Found;
}

/// Returns the row of what the first rank of a tp group reads and broadcasts;
/// v1 logs only one rank's, too.
RowBody BodyMaker::getBatch() const {
  RowBody Body;
  Body.Kind = RowKind::GetBatch;
  Body.Why = P->Spec.Train.Sequence.Range;
  Body.Description = simulation(How);
  if (How.Scaling)
    Body.Group = GroupKind::Tp;
  if (!How.isV1() && *P->Spec.Parallel.Tp == 1)
    return Body;
  for (const BatchCall &C : batchCalls())
    if (const ir::Value *Input = inputOf(C))
      Body.SubOperations.push_back(
          {How.isV1() ? "_broadcast" : "broadcast_wrapper", C.Name,
           tensorOf(C, P, *Input), GroupKind::Tp, &processGroup(GroupKind::Tp),
           ir::OpKind::Broadcast});
  return Body;
}

/// The mean over replicas. What ranks of cp share of it they sum before, in no
/// call; gradients are summed over both.
RowBody BodyMaker::loss() const {
  RowBody Body;
  Body.Kind = RowKind::LossFunc;
  Body.Description =
      simulation(How).empty()
          ? "loss_func, calculate and DP allreduce for the last stage"
          : "simulation: loss_func, calculate and DP allreduce for the last "
            "stage";
  const ir::ProcessGroup &Replicas = *P->Spec.Parallel.Cp == 1
                                         ? processGroup(GroupKind::Dp)
                                         : processGroup("dp");
  Body.SubOperations = {{"allreduce",
                         "loss_func",
                         {{1}, ir::ElementType::FP32},
                         GroupKind::Dp,
                         &Replicas,
                         ir::OpKind::AllReduce}};
  return Body;
}

StageBodies BodyMaker::run() {
  StageBodies B;
  B.RecvForward = message(RowKind::RecvForward);
  B.SendForward = message(RowKind::SendForward);
  B.RecvBackward = message(RowKind::RecvBackward);
  B.SendBackward = message(RowKind::SendBackward);
  B.GetBatch = getBatch();
  B.Loss = loss();
  for (const ir::ChunkRun &C : S.Chunks)
    for (int64_t I = 0; I < C.Count; ++I) {
      B.Forward.push_back(chunk(Direction::Forward, C.Layers));
      B.Backward.push_back(chunk(Direction::Backward, C.Layers));
    }
  B.Finalize = makeStepRows(P, S, How);
  return B;
}

StageBodies foretrace::megatron::makeBodies(ir::ExprScope P, const ir::Stage &S,
                                            Instrumentation How) {
  return BodyMaker(P, S, How).run();
}
