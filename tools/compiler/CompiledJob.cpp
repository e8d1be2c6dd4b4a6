// SPDX-License-Identifier: Apache-2.0
#include "tools/compiler/CompiledJob.h"
#include "ir/verify/Verify.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace foretrace;

CompiledJob::CompiledJob(const PassRunner &Run, StructureCache &Structures,
                         std::optional<ir::Spec> Stated, DiagnosticEngine Diags)
    : Run(Run), Structures(Structures), Stated(std::move(Stated)),
      Diags(std::move(Diags)) {
  // The first pass reports the errors of a job to all callers.
  expect({ir::Fact::Complete});
}

void CompiledJob::expect(ir::FactSet Needs) {
  Pipeline Passes = pipelineFor(Needs);
  if (!llvm::is_contained(Expected, Passes))
    Expected.push_back(std::move(Passes));
}

/// Returns the longest beginning of \p Passes, short of all of them, that an
/// expected pipeline begins with, too.
llvm::ArrayRef<const PassInfo *>
CompiledJob::beginningOf(llvm::ArrayRef<const PassInfo *> Passes) const {
  size_t Longest = 0;
  for (const Pipeline &P : Expected) {
    const auto [In, _] =
        std::mismatch(Passes.begin(), Passes.end(), P.begin(), P.end());
    const auto Shared = static_cast<size_t>(In - Passes.begin());
    if (Shared < Passes.size())
      Longest = std::max(Longest, Shared);
  }
  return Passes.take_front(Longest);
}

/// Runs \p Passes, or takes from another job what those that see no numbers
/// make.
bool CompiledJob::runOn(ir::Program &P,
                        llvm::ArrayRef<const PassInfo *> Passes) {
  const Pipeline Shared = StructureCache::passes();
  if (Passes.size() < Shared.size() ||
      Passes.take_front(Shared.size()) != llvm::ArrayRef(Shared))
    return Run(P, Passes, Diags);
  auto RunShared = [&](ir::Program &Of) { return Run(Of, Shared, Diags); };
  return Structures.complete(P, RunShared) &&
         Run(P, Passes.drop_front(Shared.size()), Diags);
}

CompiledJob::Result &CompiledJob::run(llvm::ArrayRef<const PassInfo *> Passes) {
  for (Result &R : Results)
    if (llvm::ArrayRef(R.Passes) == Passes)
      return R;
  std::optional<ir::Program> P;
  const llvm::ArrayRef<const PassInfo *> Before = beginningOf(Passes);
  if (Before.empty())
    P.emplace().Spec = *Stated;
  else
    P = run(Before).Program;
  const unsigned ErrorsBefore = Diags.errorCount();
  if (P && (!runOn(*P, Passes.drop_front(Before.size())) ||
            Diags.errorCount() != ErrorsBefore))
    P.reset();
  return Results.emplace_back(Result{Passes.vec(), std::move(P)});
}

const ir::Program *CompiledJob::program(ir::FactSet Needs) {
  if (!Stated)
    return nullptr;
  expect(Needs);
  Result &R = run(pipelineFor(Needs));
  if (R.Program && !R.IsVerified) {
    R.IsVerified = ir::verify(*R.Program, Diags);
    if (!R.IsVerified)
      R.Program.reset();
  }
  return R.Program ? &*R.Program : nullptr;
}

const ir::Program *CompiledJob::program() {
  ir::FactSet All;
  for (const PassInfo &P : allPasses())
    All.insert(P.Establishes);
  return program(All);
}

std::unique_ptr<CompiledJob> CompiledJob::vary(ir::Spec Changed) const {
  return std::make_unique<CompiledJob>(Run, Structures, std::move(Changed),
                                       Diags.cloneEmpty());
}

std::unique_ptr<CompiledJob>
CompiledJob::attempt(llvm::function_ref<bool(ir::Spec &)> Change) const {
  ir::Spec Changed = *Stated;
  if (!Change(Changed))
    return nullptr;
  return std::make_unique<CompiledJob>(Run, Structures, std::move(Changed),
                                       Diags.cloneForTrial());
}

bool CompiledJob::establish(ir::Program &P, ir::FactSet Needs) {
  Pipeline Rest = pipelineFor(Needs);
  llvm::erase_if(Rest, [&](const PassInfo *Pass) {
    return P.Facts.contains(Pass->Establishes);
  });
  return Run(P, Rest, Diags);
}

const ir::Program *CompiledJob::largestStep(ir::FactSet Needs) {
  if (!Stated || !Stated->Serve || Diags.hasErrors())
    return nullptr;
  ir::Program P;
  P.Spec = *Stated;
  P.Spec.Serve->Step.derive(ir::StepKind::Largest, P.Spec.Serve->Range);
  if (!establish(P, Needs) || !ir::verify(P, Diags))
    return nullptr;
  return &LargestSteps.emplace_back(std::move(P));
}
