// SPDX-License-Identifier: Apache-2.0
//
// Uses an installed Foretrace: how many errors does a job have, and is a text
// the log of a run?
#include "frontend/Frontend.h"
#include "passes/PassManager.h"
#include "tools/runs/Check.h"
#include "tools/runs/LogMatcher.h"
#include <cstdio>

int main(int Argc, char **Argv) {
  foretrace::SourceFiles Sources;
  foretrace::DiagnosticEngine Diags;
  foretrace::compileSpec(Sources, Argc > 1 ? Argv[1] : "", {}, Diags);
  std::printf("%u errors, %zu passes, %s\n", Diags.errorCount(),
              foretrace::allPasses().size(),
              foretrace::runs::isLog("length:8, num_stage:2") ? "a log"
                                                              : "no log");
}
