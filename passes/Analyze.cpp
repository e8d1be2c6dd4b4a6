// SPDX-License-Identifier: Apache-2.0
//
// analyze: what one layer of every block holds, keeps, computes and sends.

#include "analysis/Analyses.h"
#include "passes/Passes.h"

using namespace foretrace;
using namespace foretrace::ir;

bool foretrace::analyze(Program &P, DiagnosticEngine &) {
  for (Block &B : P.Blocks) {
    countParameters(P, B);
    countWork(P, B);
    measureMemory(P, B);
    sumMessages(P, B);
  }
  return true;
}
