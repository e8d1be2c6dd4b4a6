// SPDX-License-Identifier: Apache-2.0
#include "backends/plan/Plan.h"
#include "backends/EmitOptions.h"
#include "backends/plan/Formats.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::plan;

/// A form, and the extension of its files.
struct FormatRow {
  llvm::StringLiteral Name, Extension;
  Writer Write;
};
static constexpr FormatRow Formats[] = {{"table", "txt", writeTable},
                                        {"json", "json", writeJSON},
                                        {"csv", "csv", writeCSV},
                                        {"svg", "svg", writeSVG}};

/// The form asked for; the first if it is unknown, which is reported.
static const FormatRow &readFormat(const EmitSpec &Emit,
                                   DiagnosticEngine &Diags) {
  const NamedAttribute *A = Emit.Options.find("format");
  if (!A)
    return Formats[0];
  const auto *Found = llvm::find_if(
      Formats, [&](const FormatRow &F) { return F.Name == A->Value.Text; });
  if (Found != std::end(Formats))
    return *Found;
  reportOptionValue(
      *A,
      "one of " + llvm::join(llvm::map_range(
                                 Formats, [](auto &F) { return F.Name.str(); }),
                             ", "),
      Diags);
  return Formats[0];
}

FactSet foretrace::plan::prepare(const EmitSpec &Emit,
                                 DiagnosticEngine &Diags) {
  checkOptionNames(Emit, {"file", "format"}, Diags);
  readFile(Emit, "", Diags);
  readFormat(Emit, Diags);
  return {Fact::Scheduled, Fact::Costs};
}

bool foretrace::plan::check(const EmitRequest &Request,
                            DiagnosticEngine &Diags) {
  if (!makeRows(Request.Program).IsOverflow)
    return true;
  Diags.report(Request.Program.Spec.Model.LayersRange, diag::SizeOverflow,
               "the size of a stage");
  return false;
}

llvm::Error foretrace::plan::emit(const EmitRequest &Request, OutputSet &Out,
                                  DiagnosticEngine &) {
  DiagnosticEngine Known; // `prepare` has reported these
  const FormatRow &Format = readFormat(Request.Emit, Known);
  const Rows Of = makeRows(Request.Program);
  std::string Path = readFile(
      Request.Emit, (Request.DefaultStem + ".plan." + Format.Extension).str(),
      Known);
  return Out.add(Path, [&](llvm::raw_ostream &OS) {
    Format.Write(Request.Program, Of, OS);
  });
}
