// SPDX-License-Identifier: Apache-2.0
#include "analysis/ExpertLoads.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

static int64_t redundantExperts(const Spec &S) {
  return S.Serve ? *S.Serve->RedundantExperts : 0;
}

/// Returns the nodes that the ranks of ep are on: those of adjacent devices.
static int64_t nodesOfExperts(const Spec &S) {
  const ParallelSpec &P = S.Parallel;
  const __int128 Ranks = __int128(*P.Ep) * (P.Etp.isPresent() ? *P.Etp : *P.Tp);
  const int64_t OfNode = S.Cluster ? *S.Cluster->DevicesPerNode : 0;
  if (OfNode == 0 || Ranks % OfNode != 0)
    return 1;
  const __int128 Nodes = Ranks / OfNode;
  return *P.Ep % Nodes == 0 ? static_cast<int64_t>(Nodes) : 1;
}

ExpertPlacement foretrace::placementOf(const Spec &S,
                                       const ExpertTokens &Tokens) {
  const auto Experts = static_cast<int64_t>(Tokens.Of.size());
  if (redundantExperts(S) == 0)
    return placeInOrder(Tokens.Of, *S.Parallel.Ep);
  const int64_t Groups = routedExperts(S.Model).Groups;
  return placeExperts(Tokens.Of, {Experts + *S.Serve->RedundantExperts,
                                  Experts % Groups == 0 ? Groups : 1,
                                  nodesOfExperts(S), *S.Parallel.Ep});
}

std::optional<std::vector<int64_t>> foretrace::expertLoads(const Spec &S,
                                                           const Routing &R) {
  const RoutedExperts Of = routedExperts(S.Model);
  const int64_t Ranks = *S.Parallel.Ep;
  if (R.Is == Routing::Kind::Balanced ||
      (**Of.Count + redundantExperts(S)) % Ranks != 0)
    return std::vector(static_cast<size_t>(Ranks), MeanLoad);
  const auto Tokens = tokensOfExperts(R, **Of.Count, Of.Choices);
  if (!Tokens)
    return std::nullopt;
  return placementOf(S, *Tokens).relativeLoads(Tokens->All);
}

std::vector<int64_t> foretrace::expertLoads(const Program &P) {
  const Spec &S = P.Spec;
  if (!S.Train.ExpertLoad.isPresent() || !routedExperts(S.Model).Count)
    return {};
  return *expertLoads(S, *Routing::parse(*S.Train.Routing));
}

std::vector<RankExchange> foretrace::expertExchanges(FlowCounter &Of,
                                                     unsigned Stage) {
  if (llvm::none_of(Of.flows(), [&](const Flow &F) {
        return F.Stage == Stage && F.Tokens != Dispatch::None;
      }))
    return {};
  const std::vector<int64_t> Loads = expertLoads(Of.program());
  const auto Ranks = static_cast<int64_t>(Loads.size());
  std::vector<RankExchange> All(Loads.size());
  for (const Flow &F : Of.flows()) {
    if (F.Stage != Stage || F.Tokens == Dispatch::None)
      continue;
    const bool IsToExperts = F.Tokens == Dispatch::ToExperts;
    for (const auto &[Load, Rank] : llvm::zip_equal(Loads, All)) {
      // Each rank sends Load / (Ranks * MeanLoad) of its tokens to this one.
      const __int128 Each = __int128(F.Message.value()) * Load;
      const __int128 Whole = __int128(Ranks) * MeanLoad;
      const __int128 FromOthers = Each * (Ranks - 1) / Whole;
      const __int128 ToOthers = F.Message.value() - Each / Whole;
      Rank.Sent += IsToExperts ? ToOthers : FromOthers;
      Rank.Received += IsToExperts ? FromOthers : ToOthers;
    }
  }
  return All;
}
