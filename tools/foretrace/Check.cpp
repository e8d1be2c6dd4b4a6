// SPDX-License-Identifier: Apache-2.0
//
// `foretrace check`: holds the traces of a real run against the job.
#include "tools/runs/Check.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"

using namespace llvm;

namespace foretrace {

enum CheckFormat { Text, JSON, CSV, Markdown, Sarif };
static constexpr runs::MakePrinter *Printers[] = {
    runs::makeTextPrinter, runs::makeJSONPrinter, runs::makeCSVPrinter,
    runs::makeMarkdownPrinter, runs::makeSarifPrinter};

static cl::opt<CheckFormat> CheckFormatOption(
    "format", cl::desc("How to print divergences:"),
    cl::value_desc("text|json|csv|md|sarif"),
    cl::values(clEnumValN(Text, "text", "a line each (default)"),
               clEnumValN(JSON, "json", "an object a line"),
               clEnumValN(CSV, "csv", "a row each, RFC 4180"),
               clEnumValN(Markdown, "md", "a row each, for a page"),
               clEnumValN(Sarif, "sarif", "SARIF 2.1.0")),
    cl::init(Text), cl::cat(outputCategory()), cl::sub(checkCommand()));

static cl::opt<std::string>
    Tolerance("tolerance", cl::value_desc("file.toml"),
              cl::desc("Allow the divergences that this file names"),
              cl::cat(jobCategory()), cl::sub(checkCommand()));

static cl::opt<unsigned> CheckLimit(
    "limit", cl::value_desc("n"), cl::init(10),
    cl::desc("Print so many divergences of traces that differ alike; "
             "the rest is counted (default: 10)"),
    cl::cat(outputCategory()), cl::sub(checkCommand()));

static ExitCode exitCode(const runs::CheckSummary &S) {
  return S.Divergences == 0 ? ExitSuccess : ExitDiagnosed;
}

/// Checks the traces of a run of \p Job, of which nothing was shown yet.
static ExitCode checkRun(CompiledJob &Job, const runs::CheckOptions &Options,
                         const SourceFiles &Sources) {
  DiagnosticEngine &Diags = Job.engine();
  const std::unique_ptr<runs::DivergencePrinter> Out =
      Printers[CheckFormatOption](Sources, outs());
  Expected<std::unique_ptr<MemoryBuffer>> Log = runs::openLog(givenTraces());
  if (!Log)
    return failure(Log.takeError());
  if (*Log) {
    auto Summary = runs::checkLog(Job, **Log, Options, *Out);
    return Summary ? exitCode(*Summary) : showMessages(Diags, Sources);
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
  return exitCode(runs::checkTraces(Job, *P, *Run, Options, *Out));
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
