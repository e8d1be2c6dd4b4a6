// SPDX-License-Identifier: Apache-2.0
//
// `foretrace calibrate`: measures times and links from the traces of a run, and
// how well a replay with them meets the run.
#include "tools/driver/FormatOption.h"
#include "tools/foretrace/Emit.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"
#include "tools/runs/TraceCalibrator.h"

using namespace llvm;

namespace foretrace {

static cl::opt<std::string>
    Profile("o", cl::value_desc("file.toml"), cl::init("-"),
            cl::desc("Output file of the profile (default: standard output)"),
            cl::cat(outputCategory()), cl::sub(calibrateCommand()));

static driver::FormatOption
    CalibrateFormat(calibrateCommand(), outputCategory(),
                    "Format of the report on how well the profile fits:");

/// Measures \p P, the program of \p Job.
static Expected<ExitCode> calibrate(const CompiledJob &Job,
                                    const ir::Program &P,
                                    const SourceFiles &Sources) {
  DiagnosticEngine OfCalls = makeEngine();
  Expected<runs::TracedRun> Run = runs::openRun(P, givenTraces(), OfCalls);
  if (!Run)
    return Run.takeError();
  InputFiles Inputs;
  Inputs.add(Sources);
  for (const runs::TraceFile &F : Run->Files)
    Inputs.add(F.Path);
  if (Error E = Inputs.check(Profile)) // before the work
    return E;
  if (ExitCode Code = showMessages(OfCalls, Sources))
    return Code;
  runs::TraceCalibrator C(P, std::move(*Run));
  if (Error E = C.gather())
    return E;
  if (Error E = writeFile(Profile, outputOptions(), std::move(Inputs),
                          [&](raw_ostream &OS) { C.writeProfile(OS); }))
    return E;
  if (isQuiet())
    return ExitSuccess;
  const std::unique_ptr<CompiledJob> Fitted = C.fit(Job);
  if (const ir::Program *F =
          runs::TracePlan::programOf(*Fitted, {ir::Fact::Costs}))
    C.report(*F, CalibrateFormat, errs());
  return showMessages(Fitted->engine(), Sources);
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
  CompiledJob &Stated = Session.read(jobPath(), frontendOptions(), Given);
  if (const ExitCode Code = showMessages(Stated.engine(), Sources))
    return Code;
  const std::unique_ptr<CompiledJob> Job = runs::withoutCosts(Stated);
  const ir::Program *P = runs::TracePlan::programOf(*Job);
  if (const ExitCode Code = showMessages(Job->engine(), Sources))
    return Code;
  Expected<ExitCode> Code = calibrate(*Job, *P, Sources);
  return Code ? *Code : failure(Code.takeError());
}

} // namespace foretrace
