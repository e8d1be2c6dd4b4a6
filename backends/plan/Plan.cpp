// SPDX-License-Identifier: Apache-2.0
#include "backends/plan/Plan.h"
#include "backends/OptionKinds.h"
#include "backends/plan/Formats.h"
#include "lang/diagnostics/Lang.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;
using namespace foretrace::plan;

static constexpr llvm::StringRef Formats[] = {"table", "json", "csv", "md",
                                              "svg"};
using FormatWord = WordOf<Formats, findText>;

llvm::ArrayRef<EmitOption> plan::optionTable() {
  static constexpr EmitOption Table[] = {
#define OPTION(...) EMIT_OPTION(__VA_ARGS__)
#include "backends/plan/Options.def"
  };
  return Table;
}

plan::Options plan::readOptions(const EmitSpec &Emit, DiagnosticEngine &Diags) {
  return readEmitOptions<Options>(Emit, optionTable(), Diags);
}

FactSet plan::needs(const Options &) {
  return {Fact::Scheduled, Fact::Totalled};
}

bool plan::check(const EmitRequest &Request, const Options &,
                 DiagnosticEngine &Diags) {
  if (!makeRows(Request.Figures).IsOverflow)
    return true;
  Diags.report(Request.Program.Spec.Model.LayersRange, diag::SizeOverflow,
               "the size of a stage");
  return false;
}

llvm::Error plan::emit(const EmitRequest &Request, const Options &O,
                       OutputSet &Out) {
  static constexpr struct {
    llvm::StringLiteral Extension;
    PlanWriter Write;
  } Forms[] = {{".plan.txt", writeTable},
               {".plan.json", writeJSON},
               {".plan.csv", writeCSV},
               {".plan.md", writeMarkdown},
               {".plan.svg", writeSVG}};
  const auto &Form = Forms[static_cast<size_t>(O.As)];
  const PlanRows Of = makeRows(Request.Figures);
  return Out.add(
      Request.file(O.File, Form.Extension),
      [&](llvm::raw_ostream &OS) { Form.Write(Request.Program, Of, OS); });
}
