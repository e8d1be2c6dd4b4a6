// SPDX-License-Identifier: Apache-2.0
//
// `foretrace check`: holds the traces of a real run against the job.
#include "tools/runs/Check.h"
#include "tools/driver/FormatOption.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"

using namespace llvm;

namespace foretrace {

static driver::FindingFormatOption CheckFormat(checkCommand(), outputCategory(),
                                               "Format of divergences:");

static cl::opt<std::string>
    Tolerance("tolerance", cl::value_desc("file.toml"),
              cl::desc("Tolerate the divergences listed in this file"),
              jobOption(checkCommand()));

static cl::opt<unsigned>
    CheckLimit("limit", cl::value_desc("n"), cl::init(10),
               cl::desc("Number of divergences to print for traces that differ "
                        "alike; the rest are counted (default: 10)"),
               outputOption(checkCommand()));

/// Prints how much was checked, if text may be printed, and returns the exit
/// code.
static ExitCode conclude(const runs::CheckSummary &S) {
  if (CheckFormat == DiagnosticFormat::Text)
    runs::printSummary(S, outs());
  if (CheckFormat == DiagnosticFormat::JSON)
    runs::printSummaryJSON(S, outs());
  return S.Divergences == 0 ? ExitSuccess : ExitDiffers;
}

/// Checks the traces of a run of \p Job, of which nothing was shown yet.
static ExitCode checkRun(CompiledJob &Job, const runs::CheckOptions &Options,
                         const SourceFiles &Sources) {
  DiagnosticEngine &Diags = Job.engine();
  // All divergences are errors, so lines do not repeat that.
  const TextStyle Style = {/*HasColors=*/false, /*HasLevels=*/false};
  const std::unique_ptr<DiagnosticClient> Client =
      makeClient(CheckFormat, outs(), Style, runs::RunReport::columns());
  runs::RunReport Out(*Client, Sources);
  Expected<std::unique_ptr<MemoryBuffer>> Log = runs::openLog(givenTraces());
  if (!Log)
    return failure(Log.takeError());
  if (*Log) {
    auto Summary = runs::checkLog(Job, **Log, Options, Out);
    return Summary ? conclude(*Summary) : showMessages(Diags, Sources);
  }
  const ir::Program *P = runs::TracePlan::programOf(Job);
  if (ExitCode Code = showMessages(Diags, Sources))
    return Code;
  DiagnosticEngine OfCalls = Diags.cloneEmpty();
  Expected<runs::TracedRun> Run = runs::openRun(*P, givenTraces(), OfCalls);
  if (!Run)
    return failure(Run.takeError());
  if (ExitCode Code = showMessages(OfCalls, Sources))
    return Code;
  return conclude(runs::checkTraces(Job, *P, *Run, Options, Out));
}

ExitCode runCheck() {
  if (jobPath().empty() || givenTraces().empty())
    return usageError("check: a job or its traces are missing, for example "
                      "`foretrace check job.fore --trace run/`");
  Compiler Session;
  DiagnosticEngine Diags = makeEngine();
  runs::CheckOptions Options;
  Options.Limit = CheckLimit;
  if (!Tolerance.empty())
    if (auto Allowed = runs::readTolerance(Tolerance, Session.sources(), Diags))
      Options.Allowed = std::move(*Allowed);
  CompiledJob &Job = Session.read(jobPath(), frontendOptions(), Diags);
  if (!Job.spec())
    return showMessages(Job.engine(), Session.sources());
  return checkRun(Job, Options, Session.sources());
}

} // namespace foretrace
