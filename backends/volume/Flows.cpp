// SPDX-License-Identifier: Apache-2.0
#include "backends/volume/Flows.h"
#include "analysis/LayerCounts.h"
#include "ir/model/Boundary.h"
#include "ir/model/OpKinds.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::volume;

Figure Amount::figure(ExprTable &Sizes) const {
  const ExprId Sum = Sizes.sum(Terms);
  if (Sizes.value(Sum) != NoValue && Sizes.value(Sum) == Value)
    return {Sizes, Sum};
  return Value;
}

Amount &Amount::operator+=(const Amount &More) {
  Value += More.Value;
  Terms.append(More.Terms);
  return *this;
}

Traffic &Traffic::operator+=(const Traffic &More) {
  Message += More.Message;
  Sent += More.Sent;
  CrossNode += More.CrossNode;
  ByTier.resize(std::max(ByTier.size(), More.ByTier.size()));
  for (const auto &[To, Bytes] : llvm::zip(ByTier, More.ByTier))
    To += Bytes;
  return *this;
}

static const ClusterSpec *clusterOf(const Program &P) {
  return P.Spec.Cluster ? &*P.Spec.Cluster : nullptr;
}

FlowCounter::FlowCounter(const Program &Of, Span Per)
    : P(Of), Links(P->Mesh, *P->Spec.Parallel.RankOrder, clusterOf(Of)),
      MicroBatches(Per == Span::Iteration ? microBatchesOfChunk(P)
                                          : numberOf(P, 1)) {
  for (const auto &[Index, S] : llvm::enumerate(P->Stages)) {
    const auto Stage = static_cast<unsigned>(Index);
    for (const auto &[Block, Layers] : layersByBlock(S))
      addOps(Stage, P->Blocks[BlockId(Block)],
             countOf(KeyId::StageLayers, Block, Stage, Layers) * MicroBatches);
    if (Per == Span::Iteration)
      addOps(Stage, P->Blocks[S.Step], numberOf(P, 1));
    addSends(Stage);
  }
}

/// By the name that explanations know it by, if it has one.
Expr FlowCounter::countOf(KeyId Id, unsigned Block, unsigned Stage,
                          int64_t Value) {
  const std::optional<ExprId> Known = P.Sizes.find({Id, Block, Stage});
  return Known ? Expr(P.Sizes, *Known) : numberOf(P, Value);
}

/// Flows of a stage stand together.
void FlowCounter::add(Flow New) {
  const auto Stage = llvm::partition_point(
      Flows, [&](const Flow &F) { return F.Stage < New.Stage; });
  const auto It = std::find_if(Stage, Flows.end(), [&](const Flow &F) {
    return F.Of == New.Of && F.By == New.By && F.In == New.In &&
           F.Distance == New.Distance;
  });
  if (It == Flows.end())
    Flows.push_back(std::move(New));
  else
    It->Message += New.Message;
}

void FlowCounter::addOps(unsigned Stage, const Block &B, Expr Times) {
  for (const Op &O : B.Ops)
    if (isCollective(O.Kind) && O.Group.size(P->Mesh) > 1)
      add({Stage, O.Group, O.Kind, O.Phase,
           Times * Expr(P.Sizes, O.Message.Id)});
}

void FlowCounter::addSends(unsigned Stage) {
  const Group Stages = {{Axis::Pp}};
  for (const Schedule::Messages &M :
       P->Schedule.messagesOf(P->Stages[Stage].First))
    add({Stage, Stages, std::nullopt, std::nullopt,
         numberOf(P, M.Count) * MicroBatches * boundarySize(P, 0), M.Distance});
}

StageRange FlowCounter::stagesOf(const Flow &F) const {
  const Stage &S = P->Stages[F.Stage];
  return {S.First, S.Count};
}

int64_t FlowCounter::ranksOf(const Flow &F) const {
  return F.By ? F.Of.size(P->Mesh) : 2;
}

Expr FlowCounter::sendersOf(const Flow &F) {
  return sizeOf(P, {Axis::Tp, Axis::Cp, Axis::Dp, Axis::DpReplicate}) *
         numberOf(P, P->Stages[F.Stage].Count);
}

Expr FlowCounter::timesSent(const Flow &F) {
  if (!F.By)
    return numberOf(P, 1);
  const Expr Ranks = sizeOf(P, F.Of);
  switch (*F.By) {
  case OpKind::Ring:
    return Ranks;
  case OpKind::AllReduce:
    return (Ranks + int64_t(-1)) * 2;
  default:
    return Ranks + int64_t(-1);
  }
}

__int128 FlowCounter::linksOfGroup(const Flow &F) const {
  return F.By ? linkCount(routeOf(*F.By), ranksOf(F)) : 1;
}

LinkSpan FlowCounter::linksOf(const Flow &F) const {
  return F.By ? Links.within(F.Of, routeOf(*F.By), stagesOf(F))
              : Links.between(F.Distance, stagesOf(F));
}

Amount FlowCounter::sentByGroup(const Flow &F) {
  const Expr Times = timesSent(F);
  return {static_cast<__int128>(F.Message.value()) * Times.value(),
          {F.Message * Times}};
}

Amount FlowCounter::sentByRank(const Flow &F) {
  const Expr Senders = sendersOf(F);
  const Amount OfAll = trafficOf(F).Sent;
  return {(OfAll.Value + Senders.value() - 1) / Senders.value(),
          {Expr(P.Sizes, OfAll.Terms.front()) / Senders}};
}

/// Every link of a group takes as much.
Traffic FlowCounter::trafficOf(const Flow &F) {
  const Expr Senders = sendersOf(F);
  const __int128 OfGroup = sentByGroup(F).Value;
  const __int128 OverLinks = linksOfGroup(F);
  const LinkSpan Span = linksOf(F);
  auto Over = [&](__int128 Count) { return OfGroup * Count / OverLinks; };
  const Expr GroupsOf = F.By ? Senders / sizeOf(P, F.Of) : Senders;
  Traffic T;
  T.Message = {Senders.value() * static_cast<__int128>(F.Message.value()),
               {F.Message * Senders}};
  T.Sent = {Over(Span.Links), {F.Message * timesSent(F) * GroupsOf}};
  T.CrossNode = T.Sent.Value - Over(Span.Links - Span.LeavingNode);
  __int128 Inside = 0; // of a domain of the tiers so far
  for (__int128 Joined : Span.ByTier) {
    T.ByTier.push_back(Over(Inside + Joined) - Over(Inside));
    Inside += Joined;
  }
  return T;
}

std::vector<Flow> FlowCounter::withoutPhases() const {
  std::vector<Flow> Sums;
  size_t First = 0; // of the stage
  for (const Flow &F : Flows) {
    if (First != Sums.size() && Sums[First].Stage != F.Stage)
      First = Sums.size();
    const auto It = std::find_if(
        Sums.begin() + static_cast<std::ptrdiff_t>(First), Sums.end(),
        [&](const Flow &Sum) { return Sum.Of == F.Of && Sum.By == F.By; });
    if (It == Sums.end())
      Sums.push_back(F);
    else
      It->Message += F.Message;
  }
  return Sums;
}
