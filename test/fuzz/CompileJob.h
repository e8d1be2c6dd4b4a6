// SPDX-License-Identifier: Apache-2.0
//
// A job in memory: it is compiled to the end, or there is a diagnostic. What
// the passes make of a job must verify.
#pragma once

#include "lang/DiagnosticClient.h"
#include "test/fuzz/Compile.h"
#include "tools/compiler/Compiler.h"
#include <cstdlib>

namespace foretrace {

/// What was reported of the job \p Text, as text.
inline std::string compileJob(llvm::StringRef Text) {
  Compiler Session;
  Session.setText("job.fore", Text);
  CompiledJob &Job = Session.read("job.fore");
  DiagnosticEngine &Diags = Job.engine();
  if ((Job.spec() != nullptr) == Diags.hasErrors())
    std::abort();
  if (Job.spec()) {
    ir::Program P;
    P.Spec = *Job.spec();
    if (runAllPasses(P, Diags))
      checkAllBackends(P, Diags);
    else if (!Diags.hasErrors())
      std::abort();
    for (const Diagnostic &D : Diags.diagnostics())
      if (D.Level == Severity::Error &&
          getDiagnosticInfo(D.Id).Slug.starts_with("verify-"))
        std::abort();
  }
  std::string Messages;
  llvm::raw_string_ostream OS(Messages);
  showAll(Diags, Session.sources(), *makeTextClient(OS));
  return Messages;
}

} // namespace foretrace
