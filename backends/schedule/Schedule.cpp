// SPDX-License-Identifier: Apache-2.0
//
// The `schedule` backend: what every pipeline stage runs, and when: a grid for
// a terminal, a picture, PyTorch's schedule file, or exact numbers. It unfolds
// the schedule of the IR.
#include "backends/EmissionOf.h"
#include "backends/schedule/Figures.h"
#include "backends/schedule/Lines.h"
#include "backends/schedule/Writers.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;
using namespace foretrace::schedule;

namespace foretrace::schedule {

enum class ScheduleForm : unsigned char { Grid, CSV, SVG, JSON };

/// Messages of a CSV.
enum class CSVMessages : unsigned char { None, Lowered, Calls };

struct Options {
  std::string File; ///< empty: from the job's name
  ScheduleForm Format = ScheduleForm::Grid;
  CSVMessages Comms = CSVMessages::None;
  StepTime Time = StepTime::Unit;
};

} // namespace foretrace::schedule

namespace {

constexpr llvm::StringRef FormWords[] = {"grid", "csv", "svg", "json"};
constexpr llvm::StringLiteral Extensions[] = {
    ".schedule.txt", ".schedule.csv", ".schedule.svg", ".schedule.json"};
constexpr llvm::StringRef MessageWords[] = {"none", "lowered", "calls"};
constexpr llvm::StringRef TimeWords[] = {"unit", "cost"};

/// `true` means `lowered`: the messages that PyTorch's runtime adds.
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

constexpr EmitOption schedule::OptionRows[] = {
#include "backends/schedule/Options.def"
};

/// Reports options that only some formats have.
static void checkFormat(const EmitSpec &Emit, const Options &Read,
                        DiagnosticEngine &Diags) {
  const NamedAttribute *A = Emit.Options.find("comms");
  if (A && Read.Comms != CSVMessages::None && Read.Format != ScheduleForm::CSV)
    reportOptionValue(*A, "none unless `format = csv`", Diags);
  A = Emit.Options.find("time");
  if (A && Read.Time == StepTime::Cost && Read.Format != ScheduleForm::SVG &&
      Read.Format != ScheduleForm::JSON)
    reportOptionValue(*A, "unit unless `format` is svg or json", Diags);
}

constexpr EmitReader schedule::Reader =
    readerOf<Options, checkFormat>(OptionRows);

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

static void writeForm(const Program &P, const Options &Of,
                      llvm::raw_ostream &OS) {
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
      [&](llvm::raw_ostream &OS) { writeForm(Request.Program, O, OS); });
}
