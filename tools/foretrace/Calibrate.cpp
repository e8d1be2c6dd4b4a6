// SPDX-License-Identifier: Apache-2.0
//
// `foretrace calibrate`: measures times and links from the traces of a run, and
// how well a replay with them meets the run.
#include "tools/driver/FormatOption.h"
#include "tools/fit/TraceFit.h"
#include "tools/foretrace/Emit.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"
#include "tools/runs/TraceCalibrator.h"

using namespace llvm;

namespace foretrace {

static cl::opt<std::string>
    Profile("o", cl::value_desc("file.toml"), cl::init("-"),
            cl::desc("Output file of the profile (default: standard output)"),
            outputOption(calibrateCommand()));

static cl::opt<bool> Kernels(
    "kernels",
    cl::desc(
        "Fit the device profile of the job, which also serves other layouts, "
        "instead of timing the parts of this job"),
    outputOption(calibrateCommand()));

static driver::FormatOption
    CalibrateFormat(calibrateCommand(), outputCategory(),
                    "Format of the report on how well the profile fits:");

/// Fits the profile of \p Stated to \p C.
static Expected<ExitCode> fitProfile(const CompiledJob &Stated,
                                     const runs::TraceCalibrator &C,
                                     InputFiles Inputs,
                                     const SourceFiles &Sources) {
  const std::unique_ptr<CompiledJob> Job =
      fit::withMeasuredLoad(Stated, C.gathered());
  const ir::Program *P = Job->program({ir::Fact::Scheduled, ir::Fact::Costs});
  if (!P)
    return showMessages(Job->engine(), Sources);
  fit::ProfileFit Fitted(P->Spec);
  const fit::PipelineEstimate Whole = fit::fitRun(Fitted, *P, C.gathered());
  Fitted.reportIncomplete(Job->engine());
  if (const ExitCode Code = showMessages(Job->engine(), Sources))
    return Code;
  if (Error E = writeFile(Profile, outputOptions(), std::move(Inputs),
                          [&](raw_ostream &OS) { Fitted.writeProfile(OS); }))
    return E;
  if (!isQuiet())
    fit::report(Fitted, Whole, CalibrateFormat, errs());
  return ExitSuccess;
}

/// Measures \p P, the program of \p Job, which is \p Stated without costs.
static Expected<ExitCode> calibrate(const CompiledJob &Job,
                                    const CompiledJob &Stated,
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
  if (Kernels)
    return fitProfile(Stated, C, std::move(Inputs), Sources);
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
  if (Kernels) {
    DiagnosticEngine Diags = makeEngine();
    if (!fit::checkProfile(*Stated.spec(), Diags))
      return showMessages(Diags, Sources);
  }
  Expected<ExitCode> Code = calibrate(*Job, Stated, *P, Sources);
  return Code ? *Code : failure(Code.takeError());
}

} // namespace foretrace
