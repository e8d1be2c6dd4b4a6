// SPDX-License-Identifier: Apache-2.0
//
// service: the times of steps that decode and of steps that prefill, whichever
// the job describes. Each is a program of its own, whose laws become
// expressions of the job's program.

#include "analysis/LayerCounts.h"
#include "ir/model/Measure.h"
#include "passes/PassManager.h"
#include "passes/Passes.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Returns whether \p O reads what sequences have in the cache.
static bool readsCache(const Block &B, const Op &O) {
  if (O.Kind == OpKind::Attention)
    return true;
  return llvm::any_of(O.Results, [&](ValueId V) {
    return B.Values[V].Type.indexOf(DimKind::KvSeq) >= 0;
  });
}

/// Returns what \p O adds to a step.
static Expr exposedOf(ExprScope P, const Op &O) {
  if (!O.Law.Id.isValid())
    return numberOf(P, O.exposed().value());
  const Expr Law(P.Sizes, O.Law.Id);
  return O.HiddenLaw.Id.isValid() ? Law + Expr(P.Sizes, O.HiddenLaw.Id) * -1
                                  : Law;
}

/// Returns the times of the step of \p P, which has costs.
static StepLaws lawsOf(ExprScope P) {
  Expr Cached = numberOf(P, 0), Rest = Cached;
  for (const Stage &S : P->Stages)
    for (const auto &[Index, Layers] : layersByBlock(S)) {
      const Block &B = P->Blocks[BlockId(Index)];
      for (const Op &O : B.Ops)
        (readsCache(B, O) ? Cached : Rest) +=
            exposedOf(P, O) * (Layers * S.Count);
    }
  return {Cached, Rest};
}

/// Returns the laws of the step \p Kind of the job of \p P; nothing if its
/// model has no such step.
static std::optional<StepLaws> stepOf(Program &P, StepKind Kind) {
  if (*P.Spec.Serve->Step == Kind)
    return lawsOf(P);
  Program Other;
  Other.Spec = *P.Stated;
  Other.Spec.Serve->Step.derive(Kind, P.Spec.Serve->Range);
  DiagnosticEngine Diags;
  if (!runPasses(Other, pipelineFor({Fact::Costs}), Diags, {}))
    return std::nullopt;
  const StepLaws Laws = lawsOf(Other);
  return StepLaws{P.Sizes.graft(Other.Sizes, Laws.Cached),
                  P.Sizes.graft(Other.Sizes, Laws.Rest)};
}

bool foretrace::timeService(Program &P, DiagnosticEngine &) {
  // Text does not say what was stated.
  if (!P.Spec.Serve || !P.Stated || *P.Spec.Cost.Kind != CostKind::Estimate)
    return true;
  const llvm::StringRef Name = P.Spec.Serve->Name;
  const bool Decodes = Name != "prefill", Prefills = Name != "decode";
  ServiceLaws Laws;
  if (Decodes)
    Laws.Decode = stepOf(P, StepKind::Decode);
  if (Prefills)
    Laws.Prefill = stepOf(P, StepKind::Prefill);
  if (Laws.Decode.has_value() == Decodes &&
      Laws.Prefill.has_value() == Prefills)
    P.Service = Laws;
  return true;
}
