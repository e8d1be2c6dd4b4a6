// SPDX-License-Identifier: Apache-2.0
#include "ir/Verify.h"
#include "ir/VerifyParts.h"

using namespace foretrace;
using namespace foretrace::ir;

/// The level at which a fact can first hold, and whether it makes that level.
static constexpr struct {
  Fact Which;
  Level From;
  bool MakesLevel;
} FactLevels[] = {
    {Fact::Complete, Level::Spec, false},
    {Fact::Blocks, Level::Model, true},
    {Fact::Gradients, Level::Model, false},
    {Fact::Layouts, Level::SPMD, true},
    {Fact::Recompute, Level::SPMD, false},
    {Fact::Totals, Level::SPMD, false},
    {Fact::Stages, Level::Schedule, true},
    {Fact::Scheduled, Level::Spec, false},
    {Fact::Sync, Level::Schedule, false},
    {Fact::Totalled, Level::Schedule, false},
    {Fact::Costs, Level::Schedule, false},
};
static_assert(std::size(FactLevels) == NumFacts);

static void verifyFacts(const Program &P, DiagnosticEngine &Diags) {
  for (const auto &Row : FactLevels) {
    bool Has = P.Facts.contains(Row.Which);
    if (Has && P.AtLevel < Row.From)
      Diags.report({}, diag::VerifyFact, getName(Row.Which), getName(Row.From),
                   getName(P.AtLevel));
    if (!Has && Row.MakesLevel && P.AtLevel >= Row.From)
      Diags.report({}, diag::VerifyLevel, getName(P.AtLevel),
                   getName(Row.Which));
  }
}

static void verifyContent(const Program &P, DiagnosticEngine &Diags) {
  const struct {
    bool IsThere;
    Level From;
    llvm::StringLiteral Name;
  } Parts[] = {{!P.Blocks.empty(), Level::Model, "blocks"},
               {!P.Layers.empty(), Level::Model, "layers"},
               {!P.Stages.empty(), Level::Schedule, "stages"}};
  for (const auto &Part : Parts)
    if (Part.IsThere != (P.AtLevel >= Part.From))
      Diags.report(P.Spec.Model.Range, diag::VerifyContent, getName(P.AtLevel),
                   Part.IsThere ? "has" : "has no", Part.Name,
                   getName(Part.From));
}

bool foretrace::ir::verify(const Program &P, DiagnosticEngine &Diags) {
  unsigned Before = Diags.errorCount();
  verifyFacts(P, Diags);
  verifyContent(P, Diags);
  if (!verifySpec(P, Diags))
    return false;
  for (const Block &B : P.Blocks)
    verifyBlock(P, B, Diags);
  verifySignatures(P, Diags);
  if (P.AtLevel >= Level::Schedule)
    verifyStages(P, Diags);
  if (P.Facts.contains(Fact::Scheduled))
    verifySchedule(P, Diags);
  // Whoever can't be counted, can't be run.
  if (P.Facts.contains(Fact::Sync) && Diags.errorCount() == Before)
    verifyCollectives(P, Diags);
  return Diags.errorCount() == Before;
}
