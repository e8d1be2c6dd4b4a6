// SPDX-License-Identifier: Apache-2.0
//
// workspace: what the largest step of a job that serves needs besides weights.

#include "analysis/AdapterMemory.h"
#include "analysis/CachePool.h"
#include "analysis/DeviceMemory.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Passes.h"
#include "passes/PassManager.h"
#include "passes/Passes.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Returns whether both programs have the same layers, so that an expression of
/// one is one of the other.
static bool areAlike(const Program &P, const Program &Largest) {
  return P.Blocks.size() == Largest.Blocks.size();
}

/// Returns the program of the largest step of the job of \p P; its checks are
/// checks of the job. Nothing after an error.
static std::optional<Program> compileLargest(Program &P,
                                             DiagnosticEngine &Diags) {
  Program Largest;
  Largest.Spec = *P.Stated;
  Largest.Spec.Serve->Step.derive(StepKind::Largest, P.Spec.Serve->Range);
  const bool IsLegal =
      runPasses(Largest, pipelineFor({Fact::Totalled}), Diags, {});
  if (!IsLegal || areAlike(P, Largest))
    for (Check C : Largest.Checks) {
      C.Of = P.Sizes.graft(Largest.Sizes, C.Of);
      if (llvm::none_of(P.Checks, [&](const Check &Known) {
            return Known.Is == C.Is && Known.Of == C.Of;
          }))
        P.Checks.push_back(C);
    }
  return IsLegal ? std::optional(std::move(Largest)) : std::nullopt;
}

/// Returns whether adapters are of layers that there are, and blocks of the
/// cache as an engine has them; reports if not. \p Of is the largest step of \p
/// P.
static bool checkPools(const CachePools &Pools, const Program &Of, Program &P,
                       DiagnosticEngine &Diags) {
  const ServeSpec &V = *P.Spec.Serve;
  auto Add = [&](Check::Kind Is, Expr E, diag::Id Reported = {}) {
    if (areAlike(P, Of))
      P.Checks.push_back({Is, P.Sizes.graft(Of.Sizes, E), E.value(), Reported});
  };
  for (const Expr E : Pools.decisions())
    Add(Check::Kind::Decision, E);
  if (P.Spec.Lora)
    if (const std::vector<llvm::StringRef> Unknown = targetsWithoutLayer(Of);
        !Unknown.empty()) {
      P.Checks.push_back(
          {Check::Kind::Condition, P.Sizes.constant(0), 0, diag::ServeTarget});
      Diags.report(P.Spec.Lora->Targets.Range, diag::ServeTarget,
                   Unknown.front());
      return false;
    }
  if (!Pools.hasRule()) {
    Diags.report(V.Engine.Range, diag::ServePools, getSpelling(*V.Engine));
    return true;
  }
  Add(Check::Kind::Condition, Pools.doPagesDivide(), diag::ServePage);
  if (Pools.doPagesDivide().value() == 1)
    return true;
  Diags.report(V.Block.Range, diag::ServePage);
  return false;
}

/// Sets what a rank of each stage holds and the largest step needs, and what
/// the cache has.
static void takeSizes(ExprScope Of, const CachePools &Pools, Program &P) {
  auto Take = [&](Expr E) {
    return &P.Sizes == &Of.Sizes ? ExprId(E)
           : areAlike(P, Of)     ? P.Sizes.graft(Of.Sizes, E)
                                 : P.Sizes.constant(E.value());
  };
  for (Stage &S : P.Stages) {
    // With prediction layers stages are alike that are not without them.
    std::optional<Expr> Most, Weights;
    for (const Stage &Same : Of->Stages)
      if (Same.First < S.First + S.Count && S.First < Same.First + Same.Count) {
        const Expr Needed = workspaceOf(Of, Same),
                   Held = Of.at(Same.Totals.Weights);
        Most = Most ? max(*Most, Needed) : Needed;
        Weights = Weights ? max(*Weights, Held) : Held;
      }
    S.Totals.Workspace = {Take(*Most)};
    S.Totals.Weights = {Take(*Weights)};
  }
  auto TakeIf = [&](std::optional<Expr> E) {
    return E ? std::optional(Take(*E)) : std::nullopt;
  };
  P.Capacity = {TakeIf(Pools.bytes()), TakeIf(Pools.blocks()),
                TakeIf(Pools.tokens()), TakeIf(Pools.sequences())};
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
  const ExprScope Of = Largest ? *Largest : P;
  const std::optional<DeviceMemory> Memory = deviceMemoryOf(P.Spec);
  const CachePools Pools(Of,
                         Memory ? std::optional(Memory->Bytes) : std::nullopt);
  if (!checkPools(Pools, Of, P, Diags))
    return false;
  takeSizes(Of, Pools, P);
  const CacheCapacity &Has = P.Capacity;
  const bool IsOverflow =
      llvm::any_of(P.Stages,
                   [&](const Stage &S) {
                     return P.Sizes.value(S.Totals.Workspace).isOverflow();
                   }) ||
      llvm::any_of(
          llvm::ArrayRef({Has.Bytes, Has.Blocks, Has.Tokens, Has.Sequences}),
          [&](std::optional<ExprId> E) {
            return E && P.Sizes.value(*E) == NoValue;
          });
  if (IsOverflow)
    Diags.report(Serve->Range, diag::SizeOverflow, "the memory of a stage");
  return !IsOverflow;
}
