// SPDX-License-Identifier: Apache-2.0
//
// `foretrace fit`: a device profile from measured kernels and collectives.
#include "lang/diagnostics/Tools.h"
#include "tools/driver/FormatOption.h"
#include "tools/fit/ProfileFit.h"
#include "tools/foretrace/Emit.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"

using namespace llvm;

namespace foretrace {

static cl::list<std::string> Measured(cl::Positional, cl::desc("<file>..."),
                                      jobOption(fitCommand()));
static cl::opt<std::string> FitJob(
    "job", cl::value_desc("job.fore"),
    cl::desc("Job with the cluster that was measured, and the profile to "
             "begin with"),
    jobOption(fitCommand()));
static cl::opt<std::string>
    FittedProfile("o", cl::value_desc("file.toml"), cl::init("-"),
                  cl::desc("Output file of the profile (default: standard "
                           "output)"),
                  outputOption(fitCommand()));
static driver::FormatOption
    FitFormat(fitCommand(), outputCategory(),
              "Format of the report on how well the profile fits:");

ExitCode runFit() {
  if (Measured.empty() || FitJob.empty())
    return usageError("fit: measurements or the job are missing, for example "
                      "`foretrace fit measured.csv --job job.fore`");
  Compiler Session;
  const SourceFiles &Sources = Session.sources();
  DiagnosticEngine Given = makeEngine();
  if (!hasFolder(FittedProfile, Given))
    return showMessages(Given, Sources);
  CompiledJob &Job = Session.read(FitJob, frontendOptions(), Given);
  if (const ExitCode Code = showMessages(Job.engine(), Sources))
    return Code;
  DiagnosticEngine Diags = makeEngine();
  if (!fit::checkProfile(*Job.spec(), Diags))
    return showMessages(Diags, Sources);
  const ir::Program *P = Job.program({ir::Fact::Costs});
  if (!P)
    return showMessages(Job.engine(), Sources);
  std::vector<fit::Measurement> Found;
  InputFiles Inputs;
  Inputs.add(Sources);
  fit::MeasurementReader Reader{*P, Sources, Diags, Found};
  for (const std::string &Path : Measured) {
    const ErrorOr<FileId> File = Session.sources().openOrStdin(Path);
    if (!File)
      return failure(createFileError(Path, File.getError()));
    Inputs.add(Path);
    Reader.read(*File);
  }
  if (Diags.hasErrors())
    return showMessages(Diags, Sources);
  fit::ProfileFit Fitted(P->Spec);
  Fitted.fit(Found);
  Fitted.reportIncomplete(Diags);
  if (const ExitCode Code = showMessages(Diags, Sources))
    return Code;
  if (Error E = writeFile(FittedProfile, outputOptions(), std::move(Inputs),
                          [&](raw_ostream &OS) { Fitted.writeProfile(OS); }))
    return failure(std::move(E));
  if (!isQuiet())
    Fitted.report(FitFormat, errs());
  return ExitSuccess;
}

} // namespace foretrace
