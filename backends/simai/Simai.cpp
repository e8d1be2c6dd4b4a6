// SPDX-License-Identifier: Apache-2.0
//
// The `simai` backend: SimAI/AICB workload tables.
#include "backends/EmissionOf.h"
#include "backends/ExpertExchanges.h"
#include "backends/simai/Adapt.h"
#include "backends/simai/Aicb.h"
#include "backends/simai/Exact.h"
#include "ir/model/Boundary.h"
#include "ir/model/Spellings.h"
#include "lang/NumberText.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace foretrace;
using namespace foretrace::simai;

namespace {

/// A table and the file it goes to.
struct Output {
  std::string Path;
  simai::WorkloadTable Table;
};

} // namespace

/// Suffix of the file beside a table that describes its adaptation.
constexpr llvm::StringLiteral RecordSuffix = ".adapt.json";

/// `gpt.txt` for one of several stages: `gpt-stage1-6.txt`.
static std::string stagePath(llvm::StringRef Path, const ir::Stage &S) {
  const std::string Stages = "-stage" + printRange({S.First, S.Count});
  llvm::StringRef Extension = llvm::sys::path::extension(Path);
  return (Path.drop_back(Extension.size()) + Stages + Extension).str();
}

/// Reports stages whose messages to others are not all of the size in their
/// table.
static void reportMessages(const EmitRequest &Request,
                           llvm::ArrayRef<const ir::Stage *> Stages,
                           DiagnosticEngine &Diags) {
  for (const ir::Stage *S : Stages) {
    const int64_t Said = stageMessageBytes(Request.Program, *S);
    for (const ir::StageMessages &M : messagesOf(Request.Program, S->First))
      if (const int64_t Is = boundaryBytes(Request.Program, M.Boundary).value();
          Is != Said)
        Diags.report(Request.Emit.Range, diag::SimaiMessages, S->First, Said,
                     Is);
  }
}

/// Builds every table of the request; reports what is wrong with it.
static std::vector<Output> buildTables(const EmitRequest &Request,
                                       const Options &O,
                                       DiagnosticEngine &Diags) {
  const ir::Program &P = Request.Program;
  const std::string Path = Request.file(O.File, ".txt");
  std::vector<Output> Outputs;
  if (O.Accounting == Accounting::Aicb) {
    if (std::optional<WorkloadTable> T =
            P.Spec.Serve ? inferenceTable(P.Spec, Diags)
                         : aicbTable(P.Spec, O.Version, Diags))
      Outputs.push_back({Path, std::move(*T)});
    return Outputs;
  }
  std::vector<const ir::Stage *> Stages = chosenStages(P, O.Stage, Diags);
  LeftOut Lost;
  for (const ir::Stage *S : Stages) {
    const std::string File = Stages.size() > 1 ? stagePath(Path, *S) : Path;
    Outputs.push_back({File, exactTable(P, *S, File, Lost)});
  }
  Lost.report(Request.Emit.Range, Diags);
  reportMessages(Request, Stages, Diags);
  return Outputs;
}

/// Returns whether a row of \p T takes a time that the simulator can't count to
/// and that can't be written as several; reports the first.
static bool checkTimes(const EmitRequest &Request, const WorkloadTable &T,
                       DiagnosticEngine &Diags) {
  const int64_t Limit = T.LongestTime < ReaderLimit
                            ? T.LongestTime * MostShares + 1
                            : ReaderLimit;
  for (const std::vector<WorkloadRow> &Body : T.Bodies)
    for (const WorkloadRow &R : Body)
      for (const WorkloadCell *C : {&R.Forward, &R.Backward, &R.Update})
        if (C->Time >= Limit) {
          Diags.report(Request.Emit.Range, diag::SimaiTimeLimit, C->Time,
                       R.Name);
          return false;
        }
  return true;
}

static void checkRowCount(const EmitRequest &Request, const WorkloadTable &T,
                          DiagnosticEngine &Diags) {
  const RowCount Rows = T.rowCount();
  if (Rows.isOverflow())
    Diags.report(Request.Emit.Range, diag::SizeOverflow,
                 "the number of rows of the table");
  else if (Rows.value() >= ReaderLimit)
    Diags.report(Request.Emit.Range, diag::SimaiRowLimit, Rows.value());
}

/// All tables of a request have the same header.
static void checkHeader(const EmitRequest &Request, const Options &O,
                        const Header &H, DiagnosticEngine &Diags) {
  // The generator may print a float, of which the reader takes the integer.
  int64_t PpComm = 0;
  llvm::StringRef Text = H.PpComm ? llvm::StringRef(*H.PpComm) : "0";
  if (!Text.consumeInteger(10, PpComm) && PpComm >= ReaderLimit)
    Diags.report(Request.Emit.Range, diag::SimaiPpCommLimit, PpComm);
  if (O.Accounting == Accounting::Aicb && H.Tp == 1)
    Diags.report(Request.Emit.Range, diag::SimaiTpAlone);
}

/// Warns of what tables lack: the schedule, and times if there are none.
static void checkJob(const EmitRequest &Request, DiagnosticEngine &Diags) {
  const ir::Spec &S = Request.Program.Spec;
  const Located<ir::ScheduleKind> &Schedule = S.Parallel.Schedule;
  switch (*Schedule) {
  case ir::ScheduleKind::None:
  case ir::ScheduleKind::OneFOneB:
  case ir::ScheduleKind::Interleaved:
  case ir::ScheduleKind::Forward:
    break;
  default:
    Diags.report(Schedule.Range, diag::SimaiSchedule, getSpelling(*Schedule));
  }
  if (*S.Cost.Kind == ir::CostKind::Uncosted)
    Diags.report(Request.Emit.Range, diag::SimaiNoTimes);
}

ir::FactSet foretrace::simai::needs(const Options &O) {
  if (O.Accounting == Accounting::Aicb)
    return {ir::Fact::Complete};
  return {ir::Fact::Complete, ir::Fact::Blocks,    ir::Fact::Gradients,
          ir::Fact::Layouts,  ir::Fact::Recompute, ir::Fact::Stages,
          ir::Fact::Sync,     ir::Fact::Costs};
}

bool foretrace::simai::check(const EmitRequest &Request, const Options &O,
                             DiagnosticEngine &Diags) {
  unsigned Before = Diags.errorCount();
  if (O.Accounting == Accounting::Exact)
    checkJob(Request, Diags);
  if (O.Accounting == Accounting::Exact)
    reportExpertExchanges(Request, "`emit simai`", Diags);
  std::vector<Output> Outputs = buildTables(Request, O, Diags);
  for (Output &Out : Outputs) {
    std::optional<WorkloadTable> T = std::move(Out.Table);
    if (O.Adapt && !T->rowCount().isOverflow())
      T = adapted(*O.Adapt, *T, Diags);
    if (T && checkTimes(Request, *T, Diags))
      checkRowCount(Request, *T, Diags);
    if (T && &Out == &Outputs.front())
      checkHeader(Request, O, T->Header, Diags);
    if (Diags.errorCount() != Before)
      break;
  }
  return Diags.errorCount() == Before;
}

llvm::Error foretrace::simai::emit(const EmitRequest &Request, const Options &O,
                                   OutputSet &Out) {
  DiagnosticEngine Known; // `check` has reported these
  for (const std::string &Slug : O.Allow)
    Known.allow(Slug);
  for (const Output &File : buildTables(Request, O, Known)) {
    auto Write = [&](llvm::raw_ostream &OS) {
      if (O.Adapt)
        writeAdapted(*O.Adapt, File.Table, OS);
      else
        writeTable(File.Table, OS);
    };
    if (llvm::Error E = Out.add(File.Path, Write))
      return E;
    auto Record = [&](llvm::raw_ostream &OS) {
      writeRecord(*O.Adapt, File.Table, OS);
    };
    if (O.Adapt)
      if (llvm::Error E = Out.add((File.Path + RecordSuffix).str(), Record))
        return E;
  }
  return llvm::Error::success();
}

/// The command that runs SimAI's analytical simulator on \p File; empty if that
/// is no table.
std::string foretrace::simai::showCommand(const EmitRequest &Request,
                                          const Options &O,
                                          llvm::StringRef File) {
  if (File.ends_with(RecordSuffix))
    return "";
  const ir::Spec &S = Request.Program.Spec;
  int64_t World = *S.Parallel.World;
  if (O.Adapt)
    World = adaptedWorld(*O.Adapt).value_or(World);
  std::string Command;
  llvm::raw_string_ostream OS(Command);
  OS << "SimAI_analytical -w ";
  llvm::sys::printArg(OS, File, /*Quote=*/false);
  OS << ' ' << simaiArguments(SimaiServers::of(S, O.Servers), World) << " -r ";
  llvm::sys::printArg(OS, (llvm::sys::path::stem(File) + "-").str(), false);
  return Command;
}
