// SPDX-License-Identifier: Apache-2.0
//
// `foretrace infer`: a job, as far as the traces of a run show it.
#include "tools/foretrace/Messages.h"
#include "tools/runs/Inference.h"

using namespace llvm;

namespace foretrace {

static cl::list<std::string> Given(cl::Positional, cl::desc("<folder|file>..."),
                                   cl::cat(jobCategory()),
                                   cl::sub(inferCommand()));

static Error infer() {
  Expected<std::vector<std::string>> Paths =
      runs::listTraces({Given.begin(), Given.end()});
  if (!Paths)
    return Paths.takeError();
  runs::Inference Facts;
  for (const std::string &Path : *Paths)
    if (Error E = Facts.takeFile(Path))
      return E;
  for (const std::string &Doubt : Facts.doubts())
    showPlain(Severity::Warning, Doubt);
  if (Facts.empty())
    return createStringError("no row of a trace in " + Paths->front());
  Facts.write(outs());
  return Error::success();
}

ExitCode runInfer() {
  if (Given.empty())
    return usageError("infer: traces are missing, for example "
                      "`foretrace infer run/`");
  if (Error E = infer())
    return failure(std::move(E));
  return ExitSuccess;
}

} // namespace foretrace
