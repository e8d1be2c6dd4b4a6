// SPDX-License-Identifier: Apache-2.0
//
// Uses an installed Foretrace: how many errors does a job have?
#include "frontend/Frontend.h"
#include "passes/PassManager.h"
#include <cstdio>

int main(int Argc, char **Argv) {
  llvm::SourceMgr Sources;
  foretrace::DiagnosticEngine Diags;
  foretrace::compileSpec(Sources, Argc > 1 ? Argv[1] : "", {}, Diags);
  std::printf("%u errors, %zu passes\n", Diags.errorCount(),
              foretrace::allPasses().size());
}
