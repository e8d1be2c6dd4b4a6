// SPDX-License-Identifier: Apache-2.0
//
// `foretrace infer`: a job, as far as the traces of a run show it.
#include "tools/foretrace/Commands.h"
#include "tools/runs/Inference.h"
#include "tools/runs/TraceFiles.h"

using namespace llvm;

namespace foretrace {

static cl::list<std::string> Given(cl::Positional, cl::desc("<folder|file>..."),
                                   cl::cat(jobCategory()),
                                   cl::sub(inferCommand()));

/// Takes every row of a file; what is no row is counted.
static Error read(StringRef Path, runs::Inference &Facts, int64_t &Malformed) {
  return runs::forEachLine(Path,
                           [&](const runs::TraceLine &Line) {
                             if (Line.Malformed.empty())
                               Facts.take(Line.Row);
                             else
                               ++Malformed;
                             return true;
                           })
      .takeError();
}

static Error infer() {
  Expected<std::vector<std::string>> Paths =
      runs::listTraces({Given.begin(), Given.end()});
  if (!Paths)
    return Paths.takeError();
  runs::Inference Facts;
  int64_t Malformed = 0;
  for (const std::string &Path : *Paths)
    if (Error E = read(Path, Facts, Malformed))
      return E;
  if (Facts.empty())
    return createStringError("no row of a trace in " + Paths->front());
  if (Malformed > 0)
    errs() << "foretrace: " << Malformed << " lines are no rows of a trace\n";
  Facts.write(outs());
  return Error::success();
}

ExitCode runInfer() {
  if (Given.empty())
    return usageError("infer: traces are missing, for example "
                      "`foretrace infer run/`");
  if (Error E = infer()) {
    errs() << "foretrace: " << toString(std::move(E)) << '\n';
    return ExitDiagnosed;
  }
  return ExitSuccess;
}

} // namespace foretrace
