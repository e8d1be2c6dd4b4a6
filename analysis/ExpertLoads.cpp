// SPDX-License-Identifier: Apache-2.0
#include "analysis/ExpertLoads.h"
#include "ir/model/Routing.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Returns the experts of a layer, as many as each one has.
static int64_t expertsOf(const ModelSpec &M) {
  for (const BlockSpec &B : M.Blocks)
    for (const LayerUse *Use : {&B.Network, &B.Mixer})
      if (const LayerKey *Key = Use->findKey("experts"))
        return *std::get<Located<int64_t>>(Key->Value);
  return 0;
}

std::vector<int64_t> foretrace::expertLoads(const Program &P) {
  const Spec &S = P.Spec;
  if (!S.Train.ExpertLoad.isPresent())
    return {};
  return *loadsOfRanks(*Routing::parse(*S.Train.Routing), expertsOf(S.Model),
                       *S.Parallel.Ep);
}

std::vector<RankExchange> foretrace::expertExchanges(FlowCounter &Of,
                                                     unsigned Stage) {
  const std::vector<int64_t> Loads = expertLoads(Of.program());
  const auto Ranks = static_cast<int64_t>(Loads.size());
  std::vector<RankExchange> All(Loads.size());
  for (const Flow &F : Of.flows()) {
    if (F.Stage != Stage || F.Tokens == Dispatch::None)
      continue;
    const bool IsToExperts = F.Tokens == Dispatch::ToExperts;
    for (const auto &[Load, Rank] : llvm::zip_equal(Loads, All)) {
      // Of the tokens of each rank, Load / (Ranks * MeanLoad) are for this one.
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
