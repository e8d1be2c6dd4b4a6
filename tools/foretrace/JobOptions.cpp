// SPDX-License-Identifier: Apache-2.0
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Commands.h"

using namespace llvm;

namespace foretrace {

static cl::opt<std::string> Job(cl::Positional, cl::desc("<job.fore>"),
                                cl::cat(jobCategory()), cl::sub(jobCommands()));

static cl::list<std::string> Overrides(
    "D", cl::Prefix, cl::value_desc("name=value"),
    cl::desc("Set a `param`, or section.key; also --tp=8, --cluster=h100"),
    cl::cat(jobCategory()), cl::sub(jobCommands()), cl::sub(convertCommand()),
    cl::sub(diffCommand()), cl::sub(fitCommand()), cl::sub(exportCommand()),
    cl::sub(newCommand()));

static cl::list<std::string>
    ImportPaths("I", cl::Prefix, cl::value_desc("folder"),
                cl::desc("Also search this folder for imports"),
                cl::cat(jobCategory()), cl::sub(jobCommands()),
                cl::sub(convertCommand()), cl::sub(diffCommand()),
                cl::sub(fitCommand()), cl::sub(exportCommand()));

static cl::list<std::string>
    Traces("trace", cl::value_desc("path"), cl::CommaSeparated,
           cl::desc("Trace of a rank, or a folder with one *.txt per rank"),
           cl::cat(jobCategory()), cl::sub(checkCommand()),
           cl::sub(calibrateCommand()));

StringRef jobPath() { return Job; }

std::vector<std::string> givenTraces() {
  return {Traces.begin(), Traces.end()};
}

FrontendOptions frontendOptions() {
  FrontendOptions Options;
  Options.Overrides.assign(Overrides.begin(), Overrides.end());
  Options.ImportPaths.assign(ImportPaths.begin(), ImportPaths.end());
  return Options;
}

} // namespace foretrace
