// SPDX-License-Identifier: Apache-2.0
//
// `foretrace calibrate`: measures times and links from the traces of a run, and
// how well a replay with them meets the run.
#include "backends/output/FileOutputs.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"
#include "tools/runs/TraceCalibrator.h"

using namespace llvm;

namespace foretrace {

static cl::opt<std::string>
    Profile("o", cl::value_desc("file.toml"), cl::init("-"),
            cl::desc("Where the profile goes (default: standard output)"),
            cl::cat(outputCategory()), cl::sub(calibrateCommand()));

/// Measures \p P, which has no errors.
static Error calibrate(const ir::Program &P, DiagnosticEngine &Diags) {
  Expected<std::vector<runs::TraceFile>> Files =
      runs::findTraces(givenTraces(), *P.Spec.Parallel.World);
  if (!Files)
    return Files.takeError();
  runs::TraceCalibrator C(P, std::move(*Files));
  if (Error E = C.gather())
    return E;
  if (Error E = writeFile(Profile, !isQuiet(),
                          [&](raw_ostream &OS) { C.writeProfile(OS); }))
    return E;
  if (!isQuiet())
    C.report(errs(), Diags);
  return Error::success();
}

ExitCode runCalibrate() {
  if (jobPath().empty() || givenTraces().empty())
    return usageError("calibrate: a job or its traces are missing, for example "
                      "`foretrace calibrate job.fore --trace run/`");
  Compiler Session;
  const SourceFiles &Sources = Session.sources();
  DiagnosticEngine Given = makeEngine();
  if (!hasFolder(Profile, Given))
    return showMessages(Given, Sources);
  CompiledJob &Job = Session.read(jobPath(), frontendOptions(), Given);
  DiagnosticEngine &Diags = Job.engine();
  if (!Job.spec())
    return showMessages(Diags, Sources);
  const std::optional<ir::Program> P = runs::planUncosted(*Job.spec(), Diags);
  if (!P)
    return showMessages(Diags, Sources);
  if (Error E = calibrate(*P, Diags))
    return failure(std::move(E));
  return showMessages(Diags, Sources);
}

} // namespace foretrace
