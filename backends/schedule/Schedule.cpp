// SPDX-License-Identifier: Apache-2.0
#include "backends/schedule/Schedule.h"
#include "backends/EmitOptions.h"
#include "backends/schedule/Lines.h"
#include "backends/schedule/Writers.h"
#include "ir/StepOps.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::schedule;

namespace {

enum class Form : unsigned char { Grid, CSV, SVG, JSON };
constexpr llvm::StringRef Forms[] = {"grid", "csv", "svg", "json"};
constexpr llvm::StringLiteral Extensions[] = {"txt", "csv", "svg", "json"};

/// Which messages a CSV has.
enum class Messages : unsigned char { None, Lowered, Calls };
constexpr llvm::StringRef CommsWords[] = {"none", "lowered", "calls"};

constexpr llvm::StringRef TimeWords[] = {"unit", "cost"};

struct Options {
  Form Format = Form::Grid;
  StepTime Time = StepTime::Unit;
  Messages Comms = Messages::None;
};

/// Steps that can be written; they take some hundreds of megabytes.
constexpr int64_t MaxSteps = int64_t(1) << 20;

} // namespace

static void readFormat(const NamedAttribute &A, Options &Into,
                       DiagnosticEngine &Diags) {
  if (std::optional<size_t> I = readWord(A, Forms, Diags))
    Into.Format = static_cast<Form>(*I);
}

/// `true` is what PyTorch's runtime adds.
static void readComms(const NamedAttribute &A, Options &Into,
                      DiagnosticEngine &Diags) {
  if (A.Value.K == Attribute::Kind::Bool)
    Into.Comms = A.Value.Integer ? Messages::Lowered : Messages::None;
  else if (std::optional<size_t> I = readWord(A, CommsWords, Diags))
    Into.Comms = static_cast<Messages>(*I);
}

static void readTime(const NamedAttribute &A, Options &Into,
                     DiagnosticEngine &Diags) {
  if (std::optional<size_t> I = readWord(A, TimeWords, Diags))
    Into.Time = static_cast<StepTime>(*I);
}

static Options readOptions(const EmitSpec &Emit, DiagnosticEngine &Diags) {
  static constexpr EmitOption<Options> Rows[] = {
      {"format", readFormat}, {"comms", readComms}, {"time", readTime}};
  Options Out;
  readEmitOptions<Options>(Emit, Rows, {"file"}, Out, Diags);
  const NamedAttribute *A = Emit.Options.find("comms");
  if (A && Out.Comms != Messages::None && Out.Format != Form::CSV)
    reportOptionValue(*A, "none unless `format = csv`", Diags);
  A = Emit.Options.find("time");
  if (A && Out.Time == StepTime::Cost && Out.Format != Form::SVG &&
      Out.Format != Form::JSON)
    reportOptionValue(*A, "unit unless `format` is svg or json", Diags);
  return Out;
}

FactSet schedule::prepare(const EmitSpec &Emit, DiagnosticEngine &Diags) {
  const Options Of = readOptions(Emit, Diags);
  readFile(Emit, "", Diags);
  if (Of.Time == StepTime::Cost)
    return {Fact::Scheduled, Fact::Stages, Fact::Costs};
  return {Fact::Scheduled};
}

/// Whether steps have times, and all of them together, too.
static bool checkTimes(const EmitRequest &Request, DiagnosticEngine &Diags) {
  const Program &P = Request.Program;
  const SourceRange Range = Request.Emit.Options.find("time")->Value.Range;
  if (*P.Spec.Cost.Kind == CostKind::Uncosted) {
    Diags.report(Range, diag::ScheduleNoTimes);
    return false;
  }
  const bool IsOverflow = timeOfSteps(P).isOverflow();
  if (IsOverflow)
    Diags.report(Range, diag::SizeOverflow, "the time of all steps");
  return !IsOverflow;
}

bool schedule::check(const EmitRequest &Request, DiagnosticEngine &Diags) {
  const Schedule &S = Request.Program.Schedule;
  DiagnosticEngine Known; // `prepare` has reported these
  if (readOptions(Request.Emit, Known).Time == StepTime::Cost &&
      !checkTimes(Request, Diags))
    return false;
  const Elements Steps = Elements(S.steps()) * 2 * S.Stages;
  if (!Steps.isOverflow() && Steps.value() <= MaxSteps)
    return true;
  Diags.report(Request.Emit.Range, diag::ScheduleTooLarge, S.Stages, S.Chunks,
               S.MicroBatches, MaxSteps);
  return false;
}

static void write(const Program &P, const Options &Of, llvm::raw_ostream &OS) {
  const Schedule &S = P.Schedule;
  switch (Of.Format) {
  case Form::Grid:
    return writeGrid(S, Figures(P, Of.Time), OS);
  case Form::SVG:
    return writeSVG(S, Figures(P, Of.Time), OS);
  case Form::JSON:
    return writeJSON(S, Figures(P, Of.Time), OS);
  case Form::CSV:
    break;
  }
  const bool IsSharded = *P.Spec.Parallel.Zero == 3; // as FSDP does
  writeCSV(Of.Comms == Messages::None    ? stepLines(S)
           : Of.Comms == Messages::Calls ? callLines(S)
                                         : loweredLines(S, IsSharded),
           OS);
}

llvm::Error schedule::emit(const EmitRequest &Request, OutputSet &Out,
                           DiagnosticEngine &) {
  DiagnosticEngine Known; // `prepare` has reported these
  const Options Of = readOptions(Request.Emit, Known);
  const std::string Path = readFile(Request.Emit,
                                    (Request.DefaultStem + ".schedule." +
                                     Extensions[static_cast<size_t>(Of.Format)])
                                        .str(),
                                    Known);
  return Out.add(
      Path, [&](llvm::raw_ostream &OS) { write(Request.Program, Of, OS); });
}
