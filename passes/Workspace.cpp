// SPDX-License-Identifier: Apache-2.0
//
// workspace: what the largest step of a job that serves needs besides weights.

#include "analysis/CachePool.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Passes.h"
#include "passes/PassManager.h"
#include "passes/Passes.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Returns the program of the largest step of the job of \p P; its checks are
/// checks of the job. Nothing after an error.
static std::optional<Program> compileLargest(Program &P,
                                             DiagnosticEngine &Diags) {
  Program Largest;
  Largest.Spec = *P.Stated;
  Largest.Spec.Serve->Step.derive(StepKind::Largest, P.Spec.Serve->Range);
  const bool IsLegal =
      runPasses(Largest, pipelineFor({Fact::Totalled}), Diags, {});
  for (Check C : Largest.Checks) {
    C.Of = P.Sizes.graft(Largest.Sizes, C.Of);
    if (llvm::none_of(P.Checks, [&](const Check &Known) {
          return Known.Is == C.Is && Known.Of == C.Of;
        }))
      P.Checks.push_back(C);
  }
  return IsLegal ? std::optional(std::move(Largest)) : std::nullopt;
}

/// Returns whether blocks of the cache are as an engine has them; reports if
/// they are not.
static bool checkPools(Program &P, DiagnosticEngine &Diags) {
  const ServeSpec &V = *P.Spec.Serve;
  const CachePools Pools(P, std::nullopt);
  for (const Expr Of : Pools.decisions())
    P.Checks.push_back({Check::Kind::Decision, Of, Of.value()});
  auto Refuse = [&](Expr Condition, diag::Id Id) {
    P.Checks.push_back({Check::Kind::Condition, Condition, 0, Id});
    return Condition.value() == 0;
  };
  const bool HasRule =
      *V.Engine == EngineKind::VLLM || *V.Engine == EngineKind::Generic;
  if (!Pools.isAlike() && !HasRule && Refuse(numberOf(P, 0), diag::ServePools))
    Diags.report(V.Engine.Range, diag::ServePools, getSpelling(*V.Engine));
  else if (Refuse(Pools.doPagesDivide(), diag::ServePage))
    Diags.report(V.Block.Range, diag::ServePage);
  else
    return true;
  return false;
}

bool foretrace::sizeWorkspace(Program &P, DiagnosticEngine &Diags) {
  const std::optional<ServeSpec> &Serve = P.Spec.Serve;
  if (!Serve)
    return true;
  // Text does not say what was stated: it is of the step that it has.
  std::optional<Program> Largest;
  if (*Serve->Step != StepKind::Largest && P.Stated) {
    Largest = compileLargest(P, Diags);
    if (!Largest)
      return false;
  }
  Program &Of = Largest ? *Largest : P;
  for (const auto &[S, Same] : llvm::zip_equal(P.Stages, Of.Stages)) {
    const Expr Made = workspaceOf(Of, Same);
    S.Totals.Workspace = {Largest ? P.Sizes.graft(Of.Sizes, Made)
                                  : ExprId(Made)};
    if (P.Sizes.value(S.Totals.Workspace).isOverflow()) {
      Diags.report(Serve->Range, diag::SizeOverflow, "the memory of a stage");
      return false;
    }
  }
  return checkPools(P, Diags);
}
