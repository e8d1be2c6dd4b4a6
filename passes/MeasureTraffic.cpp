// SPDX-License-Identifier: Apache-2.0
//
// traffic: bytes that every op reads and writes.

#include "analysis/Analyses.h"
#include "passes/Passes.h"

using namespace foretrace;
using namespace foretrace::ir;

bool foretrace::measureTraffic(Program &P, DiagnosticEngine &Diags) {
  if (!checkOptimizerTraffic(P, Diags))
    return false;
  for (Block &B : P.Blocks)
    for (Op &O : B.Ops)
      if (!isCollective(O.Kind))
        O.Touched = touchedBytes(P, B, O);
  return true;
}
