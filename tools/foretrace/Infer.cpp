// SPDX-License-Identifier: Apache-2.0
//
// `foretrace infer`: a job, as far as the traces of a run show it.
#include "tools/compiler/Compiler.h"
#include "tools/foretrace/Messages.h"
#include "tools/runs/Inference.h"

using namespace llvm;

namespace foretrace {

static cl::list<std::string> Given(cl::Positional,
                                   cl::desc("<folder|file>... [run.log]"),
                                   jobOption(inferCommand()));

/// Writes the job of the arguments that a run printed, and reports what its
/// traces contradict.
static ExitCode inferFromLog(const std::string &Log,
                             const runs::Inference &Facts) {
  Compiler Session;
  CompiledJob &Job = Session.read(Log, {}, makeEngine());
  const ir::Program *P = Job.program();
  if (const ExitCode Code = showMessages(Job.engine(), Session.sources()))
    return Code;
  outs() << Session.textOfForeign(Log);
  for (const std::string &Wrong : Facts.contradictions(P->Spec))
    showPlain(Severity::Warning, Wrong);
  return ExitSuccess;
}

ExitCode runInfer() {
  if (all_of(Given, runs::isLogFile))
    return usageError("infer: traces are missing, for example "
                      "`foretrace infer run/`");
  std::vector<std::string> Traces(Given.begin(), Given.end());
  erase_if(Traces, runs::isLogFile);
  if (count_if(Given, runs::isLogFile) > 1)
    return usageError("infer: a run has one log");
  runs::Inference Facts;
  Error E = Facts.takeFiles(Traces);
  for (const std::string &Doubt : Facts.doubts())
    showPlain(Severity::Warning, Doubt);
  if (E)
    return failure(std::move(E));
  const auto Log = find_if(Given, runs::isLogFile);
  if (Log != Given.end())
    return inferFromLog(*Log, Facts);
  Facts.write(outs());
  return ExitSuccess;
}

} // namespace foretrace
