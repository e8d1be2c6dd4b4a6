// SPDX-License-Identifier: Apache-2.0
#include "tools/foretrace/JobOptions.h"
#include "tools/explore/JobText.h"
#include "tools/foretrace/Messages.h"
#include "tools/start/NewJob.h"

using namespace llvm;

namespace foretrace {

static cl::opt<std::string> Job(cl::Positional, cl::desc("<job.fore>"),
                                jobOption(jobCommands()));

static cl::list<std::string> Overrides(
    "D", cl::Prefix, cl::value_desc("name=value"),
    cl::desc("Set a `param`, or section.key; also --tp=8, --cluster=h100"),
    jobOption(jobCommands()), cl::sub(convertCommand()), cl::sub(diffCommand()),
    cl::sub(fitCommand()), cl::sub(exportCommand()), cl::sub(newCommand()));

static cl::list<std::string>
    ImportPaths("I", cl::Prefix, cl::value_desc("folder"),
                cl::desc("Also search this folder for imports"),
                jobOption(jobCommands()), cl::sub(convertCommand()),
                cl::sub(diffCommand()), cl::sub(fitCommand()),
                cl::sub(exportCommand()));

static cl::opt<std::string>
    Pool("pool", cl::value_desc("name"),
         cl::desc("The `serve` section that the command is about, of several"),
         jobOption(jobCommands()), cl::sub(exportCommand()));

static cl::list<std::string>
    Traces("trace", cl::value_desc("path"), cl::CommaSeparated,
           cl::desc("Trace of a rank, or a folder with one *.txt per rank"),
           jobOption(checkCommand()), cl::sub(calibrateCommand()));

static cl::opt<bool>
    PrintJob("print-job",
             cl::desc("Print the job with the keys that are given or assumed, "
                      "instead of running the command"),
             jobOption(jobCommands()));

StringRef jobPath() { return Job; }

bool isJobPrinted() { return PrintJob; }

ExitCode printJob() {
  if (jobPath().empty())
    return usageError("--print-job: a job is missing, for example `foretrace "
                      "memory llama3-8b --print-job`");
  Compiler Session;
  DiagnosticEngine Diags = makeEngine();
  const FrontendOptions Options = jobOptions(Session, Diags);
  CompiledJob &J = Session.read(jobPath(), Options, std::move(Diags));
  if (const ir::Spec *S = J.spec()) {
    Expected<std::string> Text =
        explore::printJob(Session, jobPath(), *S, Options);
    if (!Text)
      return failure(Text.takeError());
    outs() << *Text;
    outs().flush(); // diagnostics follow it, also in a pipe
  }
  return showMessages(J.engine(), Session.sources());
}

std::vector<std::string> givenTraces() {
  return {Traces.begin(), Traces.end()};
}

FrontendOptions frontendOptions() {
  FrontendOptions Options;
  Options.Overrides.assign(Overrides.begin(), Overrides.end());
  Options.ImportPaths.assign(ImportPaths.begin(), ImportPaths.end());
  Options.Pool = Pool;
  return Options;
}

FrontendOptions jobOptions(Compiler &Session, DiagnosticEngine &Diags) {
  FrontendOptions Options = frontendOptions();
  start::chooseLayout(Session, jobPath(), Options, Diags);
  return Options;
}

} // namespace foretrace
