// SPDX-License-Identifier: Apache-2.0
//
// What becomes of a program after it was read: every pass, then every backend
// short of writing a table, whose size has no bound.
#pragma once

#include "analysis/Figures.h"
#include "backends/Backends.h"
#include "passes/PassManager.h"
#include "llvm/ADT/STLExtras.h"

namespace foretrace {

/// Runs the passes that are left. False after an error they reported.
inline bool runAllPasses(ir::Program &P, DiagnosticEngine &Diags) {
  std::vector<const PassInfo *> Rest;
  for (const PassInfo &Pass : allPasses())
    if (!P.Facts.contains(Pass.Establishes))
      Rest.push_back(&Pass);
  PassOptions Options;
  Options.VerifyEach = true;
  return runPasses(P, Rest, Diags, Options);
}

/// Asks the backend of \p E, if there is one, whether it can say \p P.
inline void checkBackend(const ir::Program &P, const ir::EmitSpec &E,
                         DiagnosticEngine &Diags) {
  const Backend *B = findBackend(E.Backend);
  if (!B)
    return;
  const std::unique_ptr<Emission> Block = B->read(E, Diags);
  if (Diags.hasErrors())
    return;
  ir::ExprOverlay Sizes(P);
  JobFigures Figures(Sizes, Validity::ThisJob);
  Block->check({P, Figures, E, "job"}, Diags);
}

/// Asks every backend whether it can say \p P, with the options of the job's
/// own `emit` blocks and without any.
inline void checkAllBackends(const ir::Program &P, DiagnosticEngine &Diags) {
  std::vector<ir::EmitSpec> Emits = P.Spec.Emits;
  for (const Backend &B : allBackends())
    Emits.push_back(ir::EmitSpec::plain(B.Name));
  for (const ir::EmitSpec &E : Emits)
    checkBackend(P, E, Diags);
}

} // namespace foretrace
