// SPDX-License-Identifier: Apache-2.0
#include "analysis/Flows.h"
#include "analysis/LayerCounts.h"
#include "ir/model/Boundary.h"
#include "ir/model/OpKinds.h"
#include "ir/model/Routing.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace foretrace;
using namespace foretrace::ir;

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

FlowCounter::FlowCounter(ExprScope P, FlowSpan Per)
    : P(P), Per(Per), Links(P->Mesh, *P->Spec.Parallel.RankOrder, clusterOf(P)),
      MicroBatches(Per == FlowSpan::Iteration ? microBatchesOfChunk(P)
                                              : numberOf(P, 1)) {
  for (const auto &[Index, S] : llvm::enumerate(P->Stages)) {
    const auto Stage = static_cast<unsigned>(Index);
    for (const auto &[Block, Layers] : layersByBlock(S))
      addOps(Stage, P->Blocks[BlockId(Block)],
             countOf(KeyId::StageLayers, Block, Stage, Layers) * MicroBatches);
    if (Per == FlowSpan::Iteration)
      addOps(Stage, P->Blocks[S.Step], numberOf(P, 1));
    addSends(Stage);
  }
}

/// Returns the count under its name in explanations, if it has one.
Expr FlowCounter::countOf(KeyId Id, unsigned Block, unsigned Stage,
                          int64_t Value) {
  const std::optional<ExprId> Known = P.Sizes.find({Id, Block, Stage});
  return Known ? Expr(P.Sizes, *Known) : numberOf(P, Value);
}

/// Adds a flow; those of a stage are neighbours.
void FlowCounter::add(Flow New) {
  New.Message = withLoad(P, New.Message, MeanLoad);
  const auto Stage = llvm::partition_point(
      Flows, [&](const Flow &F) { return F.Stage < New.Stage; });
  const auto It = std::find_if(Stage, Flows.end(), [&](const Flow &F) {
    return F.Of == New.Of && F.By == New.By && F.In == New.In &&
           F.Distance == New.Distance && F.Tokens == New.Tokens &&
           F.Copies == New.Copies;
  });
  if (It == Flows.end())
    Flows.push_back(std::move(New));
  else
    It->Message += New.Message;
}

/// Returns whether \p V, of a rank, is the tokens of its experts.
static bool isOfExperts(const Program &P, const Value &V) {
  return V.Layout.isSplit(Axis::Ep) &&
         isSpread(P, V.Type.Dims[V.Layout.splitDim(Axis::Ep)]);
}

void FlowCounter::addOps(unsigned Stage, const Block &B, Expr Times) {
  for (const Op &O : B.Ops) {
    if (!isCollective(O.Kind) || O.Group.size(P->Mesh) == 1)
      continue;
    Flow F{Stage, O.Group, O.Kind, O.Phase, Times * messageOfChunks(P, B, O)};
    const bool IsExchange = O.Kind == OpKind::AllToAll;
    const bool AreSent =
        IsExchange && isOfExperts(*P, B.Values[O.Results.front()]);
    const bool ComeBack =
        IsExchange && isOfExperts(*P, B.Values[O.Operands.front()]);
    const Value &OfExperts =
        B.Values[AreSent ? O.Results.front() : O.Operands.front()];
    if ((AreSent || ComeBack) && isLoaded(*P, OfExperts.Type))
      F.Tokens = AreSent ? Dispatch::ToExperts : Dispatch::FromExperts;
    if (AreSent || ComeBack)
      F.Copies = B.Copies;
    add(std::move(F));
  }
}

void FlowCounter::addSends(unsigned Stage) {
  const Group Stages = {{Axis::Pp}};
  for (const StageMessages &M : messagesOf(*P, P->Stages[Stage].First))
    add({Stage, Stages, std::nullopt, std::nullopt,
         numberOf(P, M.Count) * MicroBatches * boundarySize(P, M.Boundary),
         M.Distance});
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

/// Links of one group, as `linkCount` has them.
Expr FlowCounter::linkCountOf(const Flow &F) {
  const Expr Ranks = sizeOf(P, F.Of);
  switch (routeOf(*F.By)) {
  case Route::Ring:
    return Ranks;
  case Route::Chain:
    return Ranks + int64_t(-1);
  case Route::Exchange:
    return Ranks * (Ranks + int64_t(-1));
  }
  llvm_unreachable("every route is handled");
}

__int128 FlowCounter::linksOfGroup(const Flow &F) const {
  return F.By ? linkCount(routeOf(*F.By), ranksOf(F)) : 1;
}

LinkSpan FlowCounter::linksOf(const Flow &F) const {
  return F.By ? Links.within(F.Of, routeOf(*F.By), stagesOf(F))
              : Links.between(F.Distance, stagesOf(F));
}

/// Returns the bytes that leave the ports of a group's members if each message
/// goes over its link.
Amount FlowCounter::sentOverLinks(const Flow &F) {
  const Expr Times = timesSent(F);
  return {static_cast<__int128>(F.Message.value()) * Times.value(),
          {F.Message * Times}};
}

Amount FlowCounter::sentByGroup(const Flow &F) {
  if (!F.Copies)
    return sentOverLinks(F);
  const Expr Groups = sendersOf(F) / sizeOf(P, F.Of);
  const Amount OfAll = trafficOf(F).Sent;
  return {OfAll.Value / Groups.value(),
          {Expr(P.Sizes, OfAll.Terms.front()) / Groups}};
}

Amount FlowCounter::sentByRank(const Flow &F) {
  const Expr Senders = sendersOf(F);
  const Amount OfAll = trafficOf(F).Sent;
  return {(OfAll.Value + Senders.value() - 1) / Senders.value(),
          {Expr(P.Sizes, OfAll.Terms.front()) / Senders}};
}

Traffic FlowCounter::trafficOf(const Flow &F) {
  Traffic T = trafficOfExchange(F);
  if (F.Copies)
    shareCopies(F, linksOf(F), T);
  return T;
}

/// Returns the part of an amount over all links that stays within an NVLink
/// domain: that of the innermost tier, or a node where that is larger or the
/// network is flat.
static __int128 insideDomain(__int128 All, __int128 LeavingNode,
                             llvm::ArrayRef<__int128> ByTier) {
  return std::max(All - LeavingNode, ByTier.size() > 1 ? ByTier.front() : 0);
}

/// Returns how many of the \p Ranks of a group are in each of its domains, or
/// 0 if they are spread unevenly. Of Ranks - 1 links of a rank, those to ranks
/// of other domains leave the domain.
static int64_t ranksInDomain(const LinkSpan &Span, int64_t Ranks) {
  const __int128 Inside =
      insideDomain(Span.Links, Span.LeavingNode, Span.ByTier) * (Ranks - 1);
  if (Span.Links == 0 || Inside % Span.Links != 0)
    return 0;
  const auto InDomain = static_cast<int64_t>(Inside / Span.Links + 1);
  return Ranks % InDomain == 0 ? InDomain : 0;
}

bool FlowCounter::isUnevenlyShared(const Flow &F) const {
  return F.Copies && ranksInDomain(linksOf(F), ranksOf(F)) == 0;
}

/// A copy of a token leaves its domain once for each other domain with a rank
/// that gets it: to the rank in the same position there, which sends it on
/// (DeepEP, csrc/kernels/internode.cu; HybridEP does the same, with
/// NUM_OF_HYBRID_EP_RANKS_PER_NVLINK_DOMAIN ranks in a domain).
void FlowCounter::shareCopies(const Flow &F, const LinkSpan &Span,
                              Traffic &T) const {
  const int64_t Ranks = ranksOf(F);
  const int64_t InDomain = ranksInDomain(Span, Ranks);
  if (InDomain == 0 || InDomain == Ranks)
    return;
  const int64_t Domains = Ranks / InDomain;
  const int64_t ToRanks = *expectedParts(*F.Copies, Ranks);
  // If groups of experts are not domains: at most as many as to ranks.
  const int64_t ToDomains =
      expectedParts(*F.Copies, Domains)
          .value_or(std::min(ToRanks, Domains * WholeToken));
  const __int128 Inside = T.Message.Value * (InDomain - 1) / InDomain;
  const __int128 Cross =
      T.Message.Value / Domains * (Domains - 1) * ToDomains / ToRanks;
  const __int128 WasInside = insideDomain(T.Sent.Value, T.CrossNode, T.ByTier);
  const __int128 WasCross = T.Sent.Value - WasInside;
  // Scales bytes within domains to those with shared copies.
  auto inDomains = [&](__int128 Was) {
    return WasInside == 0 ? 0 : Inside * Was / WasInside;
  };
  const __int128 LinksInside =
      insideDomain(Span.Links, Span.LeavingNode, Span.ByTier);
  __int128 Pairs = 0, Before = 0, After = 0;
  for (const auto &[Bytes, Joined] : llvm::zip_equal(T.ByTier, Span.ByTier)) {
    Pairs += Joined;
    Before += Bytes;
    const __int128 UpTo =
        Pairs <= LinksInside ? inDomains(Before)
                             : Inside + Cross * (Before - WasInside) / WasCross;
    Bytes = UpTo - After;
    After = UpTo;
  }
  T.Sent.Value = Inside + Cross;
  T.CrossNode = inDomains(T.CrossNode - WasCross) + Cross;
}

/// Returns the traffic of an exchange; all links of a group have the same.
Traffic FlowCounter::trafficOfExchange(const Flow &F) {
  const Expr Senders = sendersOf(F);
  const __int128 OfGroup = sentOverLinks(F).Value;
  const __int128 OverLinks = linksOfGroup(F);
  const LinkSpan Span = linksOf(F);
  auto Over = [&](__int128 Count) { return OfGroup * Count / OverLinks; };
  Traffic T;
  T.Message = {Senders.value() * static_cast<__int128>(F.Message.value()),
               {F.Message * Senders}};
  const Expr GroupsOf = F.By ? Senders / sizeOf(P, F.Of) : Senders;
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
        [&](const Flow &Sum) {
          return Sum.Of == F.Of && Sum.By == F.By && Sum.Copies == F.Copies;
        });
    if (It == Sums.end())
      Sums.push_back(F);
    else
      It->Message += F.Message;
  }
  return Sums;
}

std::vector<StageSends> foretrace::sendsOfStages(const Program &P) {
  std::vector<StageSends> All;
  for (const Stage &S : P.Stages)
    All.push_back({{S.First, S.Count}, messagesOf(P, S.First)});
  return All;
}

LinkCounter::LinkCounter(const Program &P)
    : Cluster(*P.Spec.Cluster), Order(*P.Spec.Parallel.RankOrder) {
  for (const Stage &S : P.Stages) {
    std::vector<Collective> &Found = Collectives.emplace_back();
    auto AddOps = [&](const Block &B) {
      for (const Op &O : B.Ops)
        if (isCollective(O.Kind) && O.Group.size(P.Mesh) > 1 &&
            llvm::none_of(Found, [&](const Collective &C) {
              return C.Of == O.Group && C.By == O.Kind;
            }))
          Found.push_back({O.Group, O.Kind});
    };
    for (const auto &[Block, Layers] : layersByBlock(S))
      AddOps(P.Blocks[BlockId(Block)]);
    AddOps(P.Blocks[S.Step]);
  }
}

unsigned LinkCounter::slotOf(const Flow &F) const {
  const std::vector<Collective> &Of = Collectives[F.Stage];
  const auto It = llvm::find_if(
      Of, [&](const Collective &C) { return C.Of == F.Of && C.By == *F.By; });
  return static_cast<unsigned>(It - Of.begin()) * NumSlots;
}

static int64_t limited(__int128 Count) {
  return Count > INT64_MAX ? NoValue : static_cast<int64_t>(Count);
}

std::vector<StageCount> LinkCounter::count(llvm::ArrayRef<StageSends> Stages,
                                           const Mesh &M) const {
  const LinkMap Links(M, Order, &Cluster);
  std::vector<StageCount> All;
  for (const auto &[Index, S] : llvm::enumerate(Stages)) {
    const auto Kind = static_cast<unsigned>(Index);
    auto Add = [&](KeyId Id, __int128 Count, size_t Slot = 0) {
      All.push_back({{Id, Key::NoBlock, Kind, static_cast<unsigned>(Slot)},
                     limited(Count)});
    };
    for (const auto &[I, C] : llvm::enumerate(Collectives[Index])) {
      const LinkSpan Span = Links.within(C.Of, routeOf(C.By), S.Stages);
      const __int128 OfGroup = linkCount(routeOf(C.By), C.Of.size(M));
      size_t Slot = I * NumSlots;
      for (const __int128 Links : {Span.Links, Span.Links - Span.LeavingNode}) {
        Add(KeyId::StageLinks, Links / OfGroup, Slot++);
        Add(KeyId::StageLinks, Links % OfGroup, Slot++);
      }
    }
    // By boundary; that of the hidden state is always counted.
    std::map<unsigned, __int128> Leaving = {{0, 0}};
    for (const StageMessages &To : S.To)
      Leaving[To.Boundary.Index] +=
          Links.between(To.Distance, S.Stages).LeavingNode * To.Count;
    for (const auto &[Boundary, Count] : Leaving)
      Add(KeyId::StageLeaving, Count, Boundary);
  }
  return All;
}

/// Returns the bytes between nodes on any link, rounded as in `trafficOf`.
Expr FlowCounter::crossNode() {
  const LinkCounter Counter(*P);
  std::vector<llvm::SmallVector<unsigned, 1>> Boundaries(P->Stages.size());
  for (const auto &[K, Count] : Counter.count(sendsOfStages(*P), P->Mesh)) {
    P.Sizes.define(K, numberOf(P, Count));
    if (K.Id == KeyId::StageLeaving)
      Boundaries[K.Stage].push_back(K.Slot);
  }
  auto CountOf = [&](KeyId Id, unsigned Stage, unsigned Slot) {
    return P.at(*P.Sizes.find({Id, Key::NoBlock, Stage, Slot}));
  };
  Expr All = numberOf(P, 0);
  for (const Flow &F : Flows) {
    if (!F.By)
      continue;
    if (F.Copies) { // which depends on the nodes of this job
      All += numberOf(P, static_cast<int64_t>(trafficOf(F).CrossNode));
      continue;
    }
    const Expr OfGroup = F.Message * timesSent(F);
    auto Over = [&](unsigned Slot) {
      return OfGroup * CountOf(KeyId::StageLinks, F.Stage, Slot) +
             floorDiv(OfGroup * CountOf(KeyId::StageLinks, F.Stage, Slot + 1),
                      linkCountOf(F));
    };
    const unsigned Slot = Counter.slotOf(F);
    All += Over(Slot) + Over(Slot + 2) * int64_t(-1);
  }
  if (Per == FlowSpan::Iteration)
    for (unsigned Stage = 0; Stage < P->Stages.size(); ++Stage)
      for (const unsigned Boundary : Boundaries[Stage])
        All += CountOf(KeyId::StageLeaving, Stage, Boundary) * MicroBatches *
               boundarySize(P, BoundaryId(Boundary));
  return All;
}
