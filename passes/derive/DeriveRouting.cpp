// SPDX-License-Identifier: Apache-2.0
//
// The part of `derive` that concerns the tokens of experts: the load of the
// most loaded rank, which the program assumes for all ranks.

#include "analysis/ExpertLoads.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Passes.h"
#include "passes/derive/Deriver.h"
#include <numeric>

using namespace foretrace;
using namespace foretrace::ir;

/// Derives the load of the most loaded rank. A job with balanced routing has
/// neither key.
void Deriver::deriveRouting() {
  TrainSpec &T = S.Train;
  if (S.Serve)
    T.Routing = S.Serve->Routing; // of the step
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
  const RoutedExperts Of = routedExperts(S.Model);
  if (!Of.Count)
    return; // checkRouting reports it
  if (Of.Other) {
    error(T.Routing.Range, diag::RoutingMixed, **Of.Count, **Of.Other)
        .noteValue("experts", *Of.Other);
    return;
  }
  if (**Of.Count > MaxRoutedExperts) {
    error(T.Routing.Range, diag::EntryLimit, "routing", MaxRoutedExperts);
    return;
  }
  if (S.Serve && *S.Serve->RedundantExperts > MaxRoutedExperts - **Of.Count) {
    error(S.Serve->RedundantExperts.Range, diag::EntryLimit,
          "the list of experts and their copies", MaxRoutedExperts);
    return;
  }
  const auto Loads = expertLoads(S, *R);
  if (!Loads) {
    error(T.Routing.Range, diag::RoutingExperts, R->Tokens.size(), **Of.Count)
        .noteValue("experts", *Of.Count);
    return;
  }
  if (const auto Expert = findOverfull(*R, Of.Choices)) {
    error(T.Routing.Range, diag::RoutingOverfull, *Expert, R->Tokens[*Expert],
          std::accumulate(R->Tokens.begin(), R->Tokens.end(), int64_t(0)),
          Of.Choices);
    return;
  }
  const int64_t Fullest = *llvm::max_element(*Loads);
  if (T.ExpertLoad.isStated() && *T.ExpertLoad != Fullest)
    error(T.ExpertLoad.Range, diag::ExpertLoadMismatch, *T.ExpertLoad, Fullest);
  T.ExpertLoad.derive(Fullest, T.Routing.Range);
}

/// Reports copies of no experts, and routing that no layer reads, which it
/// removes.
void Deriver::checkRouting() {
  TrainSpec &T = S.Train;
  if (S.Serve && exceeds(S.Serve->RedundantExperts, 0) && !HasExperts)
    error(S.Serve->RedundantExperts.Range, diag::KeyWithoutEffect,
          "redundant_experts", "without experts");
  if (!T.Routing.isPresent() || Failed ||
      Program.Sizes.find({KeyId::TrainExpertLoad}))
    return;
  error(T.Routing.Range, diag::KeyWithoutEffect, "routing",
        findExperts() ? "if all experts have a capacity" : "without experts");
  T.Routing = {};
  T.ExpertLoad = {};
}
