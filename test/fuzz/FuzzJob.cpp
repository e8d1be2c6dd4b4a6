// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a job: it is compiled to the end, or there is a diagnostic. What
// the passes make of a job must verify.
#include "lang/Render.h"
#include "test/fuzz/Compile.h"
#include "tools/compiler/Compiler.h"
#include <cstdlib>

using namespace foretrace;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  Compiler Session;
  Session.setText("job.fore", {reinterpret_cast<const char *>(Data), Size});
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
      if (getDiagnosticInfo(D.Id).Slug.starts_with("verify-"))
        std::abort();
  }
  renderText(Diags, Session.sources(), llvm::nulls(), /*Colors=*/false);
  return 0;
}
