// SPDX-License-Identifier: Apache-2.0
//
// The `plan` backend: which layers each pipeline stage holds, and what that
// weighs: a table, JSON, CSV, Markdown, or a picture.
#include "backends/EmissionOf.h"
#include "backends/plan/Formats.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;
using namespace foretrace::plan;

namespace foretrace::plan {

/// The forms it is written in.
enum class PlanForm : unsigned char { Table, JSON, CSV, Markdown, SVG, Layout };

struct Options {
  std::string File; ///< empty: from the job's name
  PlanForm As = PlanForm::Table;
  bool IsExact = false; ///< tables have all digits
  bool Times = false;
};

} // namespace foretrace::plan

static constexpr llvm::StringRef Formats[] = {"table", "json", "csv",
                                              "md",    "svg",  "layout"};
using FormatWord = WordOf<Formats, findText>;

constexpr EmitOption plan::OptionRows[] = {
#include "backends/plan/Options.def"
};
constexpr EmitReader plan::Reader = readerOf<Options>(OptionRows);

FactSet plan::needs(const Options &O) {
  FactSet Needs = {Fact::Scheduled, Fact::Totalled};
  if (O.Times)
    Needs.insert(Fact::Costs);
  return Needs;
}

/// Only chunks in the order of a loop over stages are in a layout.
static bool checkPlacement(const Program &P, DiagnosticEngine &Diags) {
  const Located<ScheduleKind> &Schedule = P.Spec.Parallel.Schedule;
  if (getInfo(*Schedule).Placement == PlacementKind::Loop)
    return true;
  Diags.report(Schedule.Range, diag::UnknownVariant,
               "--pipeline-model-parallel-layout",
               ("schedule = " + getSpelling(*Schedule)).str());
  return false;
}

bool plan::check(const EmitRequest &Request, const Options &O,
                 DiagnosticEngine &Diags) {
  if (O.As == PlanForm::Layout && !checkPlacement(Request.Program, Diags))
    return false;
  if (O.Times && (O.As == PlanForm::SVG || O.As == PlanForm::Layout))
    Diags.report(Request.Emit.Options.find("times")->Value.Range,
                 diag::KeyWithoutEffect, "times", "in a picture or a layout");
  else if (O.Times &&
           !checkEstimate(Request, Request.Program.Spec.Model.Range, Diags))
    return false;
  if (!makeRows(Request.Figures).IsOverflow)
    return true;
  Diags.report(Request.Program.Spec.Model.LayersRange, diag::SizeOverflow,
               "the size of a stage");
  return false;
}

static void writeForm(const Program &P, const PlanRows &Of, const Options &O,
                      llvm::raw_ostream &OS) {
  switch (O.As) {
  case PlanForm::Table:
    return writeTables(P, Of, RowFormat::Table, O.IsExact, OS);
  case PlanForm::JSON:
    return writeJSON(P, Of, OS);
  case PlanForm::CSV:
    return writeCSV(P, Of, OS);
  case PlanForm::Markdown:
    return writeTables(P, Of, RowFormat::Markdown, O.IsExact, OS);
  case PlanForm::SVG:
    return writeSVG(P, Of, OS);
  case PlanForm::Layout:
    return writeLayout(P, Of, OS);
  }
  llvm_unreachable("every form is handled");
}

llvm::Error plan::emit(const EmitRequest &Request, const Options &O,
                       OutputSet &Out) {
  static constexpr llvm::StringLiteral Extensions[] = {
      ".plan.txt", ".plan.json", ".plan.csv",
      ".plan.md",  ".plan.svg",  ".layout.txt"};
  const bool HasTimes =
      O.Times && O.As != PlanForm::SVG && O.As != PlanForm::Layout;
  const PlanRows Of = makeRows(Request.Figures, HasTimes);
  return Out.add(
      Request.file(O.File, Extensions[static_cast<size_t>(O.As)]),
      [&](llvm::raw_ostream &OS) { writeForm(Request.Program, Of, O, OS); });
}
