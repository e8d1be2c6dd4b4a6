// SPDX-License-Identifier: Apache-2.0
#include "analysis/ExpertLoads.h"
#include "ir/model/Routing.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

std::vector<int64_t> foretrace::expertLoads(const Program &P) {
  const Spec &S = P.Spec;
  if (!S.Train.ExpertLoad.isPresent())
    return {};
  const RoutedExperts Of = routedExperts(S.Model);
  if (!Of.Count)
    return {};
  return *loadsOfRanks(*Routing::parse(*S.Train.Routing), **Of.Count,
                       Of.Choices, *S.Parallel.Ep);
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
