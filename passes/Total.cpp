// SPDX-License-Identifier: Apache-2.0
//
// total: what each stage holds, keeps, computes and sends in an iteration.

#include "analysis/Analyses.h"
#include "lang/diagnostics/Lang.h"
#include "passes/Passes.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// The first figure of a stage that is beyond 2^63; empty if none is.
static std::string findOverflow(const Program &P, const StageTotals &T) {
#define STAGE_TOTAL(MEMBER, TYPE, WORD, DOC)                                   \
  if (P.Sizes.value(T.MEMBER).isOverflow())                                    \
    return WORD " of a stage";
#include "ir/model/Totals.def"
  return llvm::any_of(T.Messages,
                      [&](const GroupBytes &G) {
                        return P.Sizes.value(G.Size).isOverflow();
                      })
             ? "messages of a stage"
             : "";
}

bool foretrace::total(Program &P, DiagnosticEngine &Diags) {
  for (Stage &S : P.Stages) {
    totalStage(P, S);
    if (const std::string What = findOverflow(P, S.Totals); !What.empty()) {
      Diags.report(P.Spec.Model.LayersRange, diag::SizeOverflow, What);
      return false;
    }
  }
  return true;
}
