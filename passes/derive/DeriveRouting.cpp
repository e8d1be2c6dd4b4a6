// SPDX-License-Identifier: Apache-2.0
//
// The part of `derive` that concerns the tokens of experts: the load of the
// most loaded rank, which the program assumes for all ranks.

#include "ir/model/Routing.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Passes.h"
#include "passes/derive/Deriver.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Returns whether a layer of the model, or of its branch, is of block \p
/// Index.
static bool isUsed(const ModelSpec &M, unsigned Index) {
  auto IsIn = [&](llvm::ArrayRef<LayerRun> Layers) {
    return llvm::any_of(Layers, [&](const LayerRun &R) {
      return llvm::any_of(
          R.Items, [&](const LayerRun::Item &I) { return I.Block == Index; });
    });
  };
  return IsIn(M.Layers) || (M.Branch && IsIn(M.Branch->Layers));
}

/// Derives the load of the most loaded rank. A job with balanced routing has
/// neither key.
void Deriver::deriveRouting() {
  TrainSpec &T = S.Train;
  const auto R = T.Routing.isPresent() ? Routing::parse(*T.Routing)
                                       : std::optional(Routing());
  if (!R || R->Is == Routing::Kind::Balanced) {
    T.Routing = {};
    if (T.ExpertLoad.isStated() && *T.ExpertLoad != MeanLoad)
      error(T.ExpertLoad.Range, diag::ExpertLoadMismatch, *T.ExpertLoad,
            MeanLoad);
    T.ExpertLoad = {};
    return;
  }
  const Located<int64_t> *Experts = nullptr;
  for (const auto &[Index, B] : llvm::enumerate(S.Model.Blocks)) {
    if (!isUsed(S.Model, static_cast<unsigned>(Index)))
      continue;
    const Located<int64_t> *Here = routedExperts(B);
    if (Here && Experts && **Here != **Experts) {
      error(T.Routing.Range, diag::RoutingMixed, **Experts, **Here)
          .noteValue("experts", *Here);
      return;
    }
    if (Here)
      Experts = Here;
  }
  if (!Experts)
    return; // checkRouting reports it
  if (**Experts > MaxRoutedExperts) {
    error(T.Routing.Range, diag::EntryLimit, "routing", MaxRoutedExperts);
    return;
  }
  const auto Loads = loadsOfRanks(*R, **Experts, *S.Parallel.Ep);
  if (!Loads) {
    error(T.Routing.Range, diag::RoutingExperts, R->Tokens.size(), **Experts)
        .noteValue("experts", *Experts);
    return;
  }
  const int64_t Fullest = *llvm::max_element(*Loads);
  if (T.ExpertLoad.isStated() && *T.ExpertLoad != Fullest)
    error(T.ExpertLoad.Range, diag::ExpertLoadMismatch, *T.ExpertLoad, Fullest);
  T.ExpertLoad.derive(Fullest, T.Routing.Range);
}

/// Reports routing that no layer reads, and removes it.
void Deriver::checkRouting() {
  TrainSpec &T = S.Train;
  if (!T.Routing.isPresent() || Failed ||
      Program.Sizes.find({KeyId::TrainExpertLoad}))
    return;
  error(T.Routing.Range, diag::KeyWithoutEffect, "routing",
        findExperts() ? "if all experts have a capacity" : "without experts");
  T.Routing = {};
  T.ExpertLoad = {};
}
