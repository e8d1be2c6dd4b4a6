// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a job: it is compiled to the end, or there is a diagnostic. What
// the passes make of a job must verify.
#include "frontend/Frontend.h"
#include "lang/Render.h"
#include "test/fuzz/Compile.h"
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

using namespace foretrace;

static void compile(llvm::StringRef Path) {
  SourceFiles Sources;
  DiagnosticEngine Diags;
  std::optional<ir::Spec> Spec = compileSpec(Sources, Path, {}, Diags);
  if (Spec.has_value() == Diags.hasErrors())
    std::abort();
  if (Spec) {
    ir::Program P;
    P.Spec = std::move(*Spec);
    if (runAllPasses(P, Diags))
      checkAllBackends(P, Diags);
    else if (!Diags.hasErrors())
      std::abort();
    for (const Diagnostic &D : Diags.diagnostics())
      if (getDiagnosticInfo(D.Id).Slug.starts_with("verify-"))
        std::abort();
  }
  renderText(Diags, Sources, llvm::nulls(), /*Colors=*/false);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  int File = memfd_create("job", 0);
  if (File < 0 || write(File, Data, Size) != static_cast<ssize_t>(Size))
    std::abort();
  compile("/proc/self/fd/" + std::to_string(File));
  close(File);
  return 0;
}
