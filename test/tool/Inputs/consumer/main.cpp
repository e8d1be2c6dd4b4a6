// SPDX-License-Identifier: Apache-2.0
//
// Uses an installed Foretrace: from a text in memory to a verified program,
// what a message says without reading its text, and whether a text is the log
// of a run.
#include "tools/compiler/Compiler.h"
#include "tools/runs/Check.h"
#include "tools/runs/LogMatcher.h"
#include <cstdio>

using namespace foretrace;

/// Compiles a job on \p World ranks.
static CompiledJob &compile(Compiler &Session, const char *World) {
  return Session.compile("job.fore",
                         "import \"models/llama3-8b.fore\"\n"
                         "train { sequence = 4Ki  micro_batch = 1 }\n"
                         "parallel { world = " +
                             std::string(World) + "  tp = 4 }\n");
}

int main() {
  Compiler Session;
  if (const ir::Program *P = compile(Session, "8").program())
    std::printf("%zu kinds of blocks, dp = %d\n", P->Blocks.size(),
                int(*P->Spec.Parallel.Dp));
  for (const Diagnostic &D : compile(Session, "10").diagnostics())
    std::printf("%s: %d and %d\n", getDiagnosticInfo(D.Id).Slug.data(),
                int(std::get<int64_t>(D.Arguments.front())),
                int(std::get<int64_t>(D.Arguments.back())));
  std::printf("%s\n",
              runs::isLog("length:8, num_stage:2") ? "a log" : "no log");
}
