// SPDX-License-Identifier: Apache-2.0
#include "backends/schedule/Schedule.h"
#include "backends/OptionKinds.h"
#include "backends/schedule/Lines.h"
#include "backends/schedule/Writers.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;
using namespace foretrace::schedule;

namespace {

constexpr llvm::StringRef FormWords[] = {"grid", "csv", "svg", "json"};
constexpr llvm::StringLiteral Extensions[] = {
    ".schedule.txt", ".schedule.csv", ".schedule.svg", ".schedule.json"};
constexpr llvm::StringRef MessageWords[] = {"none", "lowered", "calls"};
constexpr llvm::StringRef TimeWords[] = {"unit", "cost"};

/// `true` is what PyTorch's runtime adds.
struct CommsWord : WordOf<MessageWords> {
  static bool read(const Attribute &A, CSVMessages &Into,
                   DiagnosticEngine &Diags) {
    if (A.K != Attribute::Kind::Bool)
      return WordOf::read(A, Into, Diags);
    Into = A.Integer ? CSVMessages::Lowered : CSVMessages::None;
    return true;
  }
};

} // namespace

llvm::ArrayRef<EmitOption> schedule::optionTable() {
  static constexpr EmitOption Table[] = {
#define OPTION(...) EMIT_OPTION(__VA_ARGS__)
#include "backends/schedule/Options.def"
  };
  return Table;
}

schedule::Options schedule::readOptions(const EmitSpec &Emit,
                                        DiagnosticEngine &Diags) {
  const auto Read = readEmitOptions<Options>(Emit, optionTable(), Diags);
  const NamedAttribute *A = Emit.Options.find("comms");
  if (A && Read.Comms != CSVMessages::None && Read.Format != ScheduleForm::CSV)
    reportOptionValue(*A, "none unless `format = csv`", Diags);
  A = Emit.Options.find("time");
  if (A && Read.Time == StepTime::Cost && Read.Format != ScheduleForm::SVG &&
      Read.Format != ScheduleForm::JSON)
    reportOptionValue(*A, "unit unless `format` is svg or json", Diags);
  return Read;
}

FactSet schedule::needs(const Options &O) {
  if (O.Time == StepTime::Cost)
    return {Fact::Scheduled, Fact::Stages, Fact::Costs};
  return {Fact::Scheduled};
}

bool schedule::check(const EmitRequest &Request, const Options &O,
                     DiagnosticEngine &Diags) {
  const NamedAttribute *Time = Request.Emit.Options.find("time");
  return checkStepRun(Request, O.Time,
                      Time ? Time->Value.Range : Request.Emit.Range, Diags);
}

static void write(const Program &P, const Options &Of, llvm::raw_ostream &OS) {
  const Schedule &S = P.Schedule;
  switch (Of.Format) {
  case ScheduleForm::Grid:
    return writeGrid(S, PipelineFigures(P, Of.Time), OS);
  case ScheduleForm::SVG:
    return writeSVG(S, PipelineFigures(P, Of.Time), OS);
  case ScheduleForm::JSON:
    return writeJSON(S, PipelineFigures(P, Of.Time), OS);
  case ScheduleForm::CSV:
    break;
  }
  const bool IsSharded = *P.Spec.Parallel.Zero == 3; // as FSDP does
  writeCSV(Of.Comms == CSVMessages::None    ? stepLines(S)
           : Of.Comms == CSVMessages::Calls ? callLines(S)
                                            : loweredLines(S, IsSharded),
           OS);
}

llvm::Error schedule::emit(const EmitRequest &Request, const Options &O,
                           OutputSet &Out) {
  return Out.add(
      Request.file(O.File, Extensions[static_cast<size_t>(O.Format)]),
      [&](llvm::raw_ostream &OS) { write(Request.Program, O, OS); });
}
