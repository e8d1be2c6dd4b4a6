// SPDX-License-Identifier: Apache-2.0
#include "ir/verify/Verify.h"
#include "ir/verify/VerifyParts.h"
#include "lang/diagnostics/IR.h"

using namespace foretrace;
using namespace foretrace::ir;

static void verifyContent(const Program &P, DiagnosticEngine &Diags) {
  const struct {
    bool IsThere;
    Level From;
    llvm::StringLiteral Name;
  } Parts[] = {{!P.Blocks.empty(), Level::Model, "blocks"},
               {!P.Layers.empty(), Level::Model, "layers"},
               {!P.Stages.empty(), Level::Schedule, "stages"}};
  for (const auto &Part : Parts)
    if (Part.IsThere != (P.level() >= Part.From))
      Diags.report(P.Spec.Model.Range, diag::VerifyContent, getName(P.level()),
                   Part.IsThere ? "has" : "has no", Part.Name,
                   getName(Part.From));
}

bool foretrace::ir::verify(const Program &P, DiagnosticEngine &Diags) {
  unsigned Before = Diags.errorCount();
  checkLevel(P.level(), P.Facts, Diags);
  verifyContent(P, Diags);
  if (!verifySpec(P, Diags))
    return false;
  for (const Block &B : P.Blocks)
    verifyBlock(P, B, Diags);
  verifySignatures(P, Diags);
  if (P.level() >= Level::Schedule)
    verifyStages(P, Diags);
  if (P.Facts.contains(Fact::Scheduled))
    verifySchedule(P, Diags);
  // Collectives can be followed only in a program without errors.
  if (P.Facts.contains(Fact::Sync) && Diags.errorCount() == Before)
    verifyCollectives(P, Diags);
  return Diags.errorCount() == Before;
}
