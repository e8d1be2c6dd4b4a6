// SPDX-License-Identifier: Apache-2.0
#include "analysis/StepTimes.h"
#include "analysis/HostTimeline.h"
#include "analysis/KernelTimes.h"
#include "ir/model/Boundary.h"
#include "ir/model/OpKinds.h"
#include "ir/ranks/StepOps.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace foretrace;
using namespace foretrace::ir;

StepTimes::StepTimes(const Program &P, Waits HostWaits, CollectiveTimes *Given)
    : P(P), HostWaits(HostWaits) {
  if (*P.Spec.Cost.Kind == CostKind::Estimate && P.Spec.Cluster)
    Links = Given ? Given : &Own.emplace(P);
}

void StepTimes::restart(CollectiveTimes *Places) {
  if (Links)
    Links = Places;
  Kernels.clear();
  Known.clear();
  Messages.clear();
}

/// Adds the collectives of \p B for whose actions \p IsMeant, \p Times each.
template <typename FnT>
static void addCommunication(const Block &B, FnT IsMeant, int64_t Times,
                             CommunicationTime &To) {
  for (const auto &[O, Action] : llvm::zip_equal(B.Ops, actionsOf(B)))
    if (isCollective(O.Kind) && IsMeant(Action)) {
      To.Exposed += O.exposed() * Times;
      To.Hidden += O.Hidden * Times;
    }
}

CommunicationTime foretrace::communicationOf(const Program &P,
                                             const LayerSequence &Layers,
                                             ActionKind Step) {
  CommunicationTime Sum;
  for (const LayerGroup &G : Layers)
    for (const BlockRun &R : G.Runs)
      addCommunication(
          P.Blocks[R.Block], [&](ActionKind Of) { return runs(Step, Of); },
          R.Count * G.Periods, Sum);
  return Sum;
}

Nanoseconds foretrace::updateTime(const Block &B) {
  Nanoseconds Sum;
  for (const Op &O : B.Ops)
    Sum += O.exposed();
  return Sum;
}

CommunicationTime foretrace::communicationOf(const Block &B) {
  CommunicationTime Sum;
  addCommunication(
      B, [](ActionKind) { return true; }, 1, Sum);
  return Sum;
}

static int64_t bounded(Nanoseconds Time) {
  return Time.isOverflow() ? INT64_MAX : Time.value();
}

Nanoseconds StepTimes::ofMessage(Bytes Size, int64_t Distance) {
  if (!Links || Size.isOverflow())
    return Links ? Nanoseconds::overflow() : Nanoseconds();
  auto [It, IsNew] = Messages.try_emplace({Size.value(), Distance});
  if (IsNew)
    It->second = Links->timeOfMessage(Size, Distance);
  return It->second;
}

const StepTimes::Launches &StepTimes::launchesOf(BlockId Block,
                                                 ActionKind Step) {
  const auto [It, IsNew] = Order.try_emplace({Block.Index, Step});
  if (IsNew) {
    const ir::Block &B = P.Blocks[Block];
    It->second.NeedsCounts = needsCounts(P, B);
    for (const auto &[O, Action] : llvm::zip_equal(B.Ops, actionsOf(B)))
      if (runs(Step, Action))
        It->second.Ops.push_back(&O);
  }
  return It->second;
}

/// Before the first exchange of a layer of experts the host waits for the
/// device, if it needs counts of tokens.
HostTimeline StepTimes::kernelsOf(const Launches &Of,
                                  Nanoseconds Launch) const {
  HostTimeline All;
  bool HasExchanged = false;
  for (const Op *O : Of.Ops) {
    if (O->Time == Nanoseconds())
      continue;
    const bool IsExchange = O->Kind == OpKind::AllToAll;
    const bool IsAwaited = IsExchange && HostWaits == Waits::ForExchanges;
    const bool WaitsForCounts = IsExchange && !HasExchanged && Of.NeedsCounts &&
                                O->Phase != Phase::Backward;
    if (IsAwaited || WaitsForCounts)
      All.synchronize();
    HasExchanged |= IsExchange;
    All.launch(O->exposed(), isCollective(O->Kind) ? Nanoseconds() : Launch);
    if (IsAwaited)
      All.synchronize();
  }
  return All;
}

Nanoseconds StepTimes::ofStep(const LayerSequence &Layers, ActionKind Step) {
  if (!Links || P.Spec.Train.CudaGraphs.is(true))
    return timeOf(P, Layers, Step);
  const Nanoseconds Launch(
      std::llround(*P.Spec.Cost.kernel(KernelParameterId::Launch) * 1e3));
  HostTimeline All; // of layers from the first to the last, or back
  auto Add = [&](HostTimeline &To, const HostTimeline &Next) {
    if (Step == ActionKind::Forward) {
      To.append(Next);
      return;
    }
    HostTimeline First = Next;
    First.append(To);
    To = First;
  };
  for (const LayerGroup &G : Layers) {
    HostTimeline Period;
    for (const BlockRun &R : G.Runs) {
      const auto [It, IsNew] = Kernels.try_emplace({R.Block.Index, Step});
      if (IsNew)
        It->second = kernelsOf(launchesOf(R.Block, Step), Launch);
      Add(Period, It->second.repeated(R.Count));
    }
    Add(All, Period.repeated(G.Periods));
  }
  return All.time();
}

int64_t StepTimes::operator()(int64_t Stage, const Action &A) {
  if (isSend(A.Kind)) {
    const PipelineMessage M = *messageOf(P.Schedule, Stage, A);
    return bounded(
        ofMessage(boundaryBytes(P, boundaryAfter(P, M.Part, M.IsForward)),
                  A.Peer - Stage));
  }
  if (!isCompute(A.Kind))
    return 0;
  const LayerSequence &Layers = stageAt(P.Stages, Stage).layersOf(A.Chunk);
  auto [It, IsNew] = Known.try_emplace({&Layers, A.Kind});
  if (IsNew)
    It->second = bounded(ofStep(Layers, A.Kind));
  return It->second;
}
