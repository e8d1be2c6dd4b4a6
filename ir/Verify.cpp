// SPDX-License-Identifier: Apache-2.0
#include "ir/Verify.h"
#include "ir/VerifyParts.h"
#include "lang/diagnostics/IR.h"

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
    {Fact::Traffic, Level::Schedule, false},
    {Fact::Costs, Level::Schedule, false},
};
static_assert(std::size(FactLevels) == NumFacts);

bool foretrace::ir::verifyLevel(Level L, FactSet Facts,
                                DiagnosticEngine &Diags) {
  const unsigned Before = Diags.errorCount();
  for (const auto &Row : FactLevels) {
    const bool Has = Facts.contains(Row.Which);
    if (Has && L < Row.From)
      Diags.report({}, diag::VerifyFact, getName(Row.Which), getName(Row.From),
                   getName(L));
    if (!Has && Row.MakesLevel && L >= Row.From)
      Diags.report({}, diag::VerifyLevel, getName(L), getName(Row.Which));
  }
  return Diags.errorCount() == Before;
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
    if (Part.IsThere != (P.level() >= Part.From))
      Diags.report(P.Spec.Model.Range, diag::VerifyContent, getName(P.level()),
                   Part.IsThere ? "has" : "has no", Part.Name,
                   getName(Part.From));
}

bool foretrace::ir::verify(const Program &P, DiagnosticEngine &Diags) {
  unsigned Before = Diags.errorCount();
  verifyLevel(P.level(), P.Facts, Diags);
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
  // Whoever can't be counted, can't be run.
  if (P.Facts.contains(Fact::Sync) && Diags.errorCount() == Before)
    verifyCollectives(P, Diags);
  return Diags.errorCount() == Before;
}
