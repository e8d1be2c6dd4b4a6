// SPDX-License-Identifier: Apache-2.0
//
// The part of `derive` that concerns the tokens of experts: the load of the
// fullest rank, whose program the job's is.

#include "ir/model/Routing.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Passes.h"
#include "passes/derive/Deriver.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Returns the number of experts of a layer, or null. Only layers of the
/// library have experts, and their keys have this name.
static const Located<int64_t> *expertsOf(const BlockSpec &B) {
  for (const LayerUse *Use : {&B.Network, &B.Mixer})
    if (const LayerKey *Key = Use->findKey("experts"))
      if (const auto *Count = std::get_if<Located<int64_t>>(&Key->Value);
          Count && Count->isPresent())
        return Count;
  return nullptr;
}

/// Derives the load of the fullest rank. A job with balanced routing has
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
  for (const BlockSpec &B : S.Model.Blocks) {
    const Located<int64_t> *Here = expertsOf(B);
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
