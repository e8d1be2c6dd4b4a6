// SPDX-License-Identifier: Apache-2.0
#include "tools/foretrace/JobOptions.h"
#include "frontend/Frontend.h"
#include "tools/driver/ModelLibrary.h"
#include "tools/foretrace/Commands.h"

using namespace llvm;

namespace foretrace {

static cl::opt<std::string> Job(cl::Positional, cl::desc("<job.fore>"),
                                cl::cat(jobCategory()), cl::sub(jobCommands()));

static cl::list<std::string>
    Overrides("D", cl::Prefix, cl::value_desc("name=value"),
              cl::desc("Give a `param`, or a key written section.key, a value"),
              cl::cat(jobCategory()), cl::sub(jobCommands()),
              cl::sub(convertCommand()));

static cl::list<std::string>
    ImportPaths("I", cl::Prefix, cl::value_desc("folder"),
                cl::desc("Look for imports here too"), cl::cat(jobCategory()),
                cl::sub(jobCommands()), cl::sub(convertCommand()));

static cl::list<std::string>
    Traces("trace", cl::value_desc("folder|file"), cl::CommaSeparated,
           cl::desc("The trace of a rank, or a folder with one *.txt a rank"),
           cl::cat(jobCategory()), cl::sub(checkCommand()),
           cl::sub(calibrateCommand()));

static std::string &library() {
  static std::string Path;
  return Path;
}

void findLibrary(const char *ProgramPath) {
  library() = driver::findModelLibrary(ProgramPath, FORETRACE_SOURCE_LIBRARY);
}
const std::string &libraryPath() { return library(); }

StringRef jobPath() { return Job; }

std::vector<std::string> givenTraces() {
  return {Traces.begin(), Traces.end()};
}

static FrontendOptions frontendOptions() {
  FrontendOptions Options;
  Options.Overrides.assign(Overrides.begin(), Overrides.end());
  Options.ImportPaths.assign(ImportPaths.begin(), ImportPaths.end());
  Options.ImportPaths.push_back(libraryPath());
  return Options;
}

std::optional<ir::Spec>
readJob(SourceFiles &Sources, DiagnosticEngine &Diags,
        std::function<bool(ArrayRef<StringRef>)> IsOfModel) {
  FrontendOptions Options = frontendOptions();
  Options.IsOfModel = std::move(IsOfModel);
  std::optional<ir::Spec> Spec = compileSpec(Sources, Job, Options, Diags);
  if (Diags.hasErrors())
    return std::nullopt;
  return Spec;
}

std::optional<ir::ClusterSpec> readCluster(StringRef Path, SourceFiles &Sources,
                                           DiagnosticEngine &Diags) {
  return compileCluster(Sources, Path, frontendOptions(), Diags);
}

} // namespace foretrace
