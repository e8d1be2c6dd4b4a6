// SPDX-License-Identifier: Apache-2.0
#include "tools/foretrace/Emit.h"
#include "tools/driver/ApplyFixes.h"
#include "tools/driver/ByteCount.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"
#include "tools/foretrace/Pipeline.h"

using namespace llvm;

namespace foretrace {

static cl::opt<bool> ShowCommand(
    "show-command",
    cl::desc("Print the command that runs the simulator on the output"),
    outputOption(compileCommand()), cl::sub(convertCommand()));

static cl::opt<bool> AllowOutside(
    "allow-outside",
    cl::desc("Allow `emit` blocks to write outside the output folder"),
    outputOption(compileCommand()));

static cl::opt<unsigned> Threads(
    "threads", cl::value_desc("n"),
    cl::desc("Number of threads that write files (default: one per processor)"),
    outputOption(compileCommand()), cl::sub(convertCommand()));

static cl::SubCommandGroup Writing = {
#define SUBCOMMAND(...)
#define ANSWER(FUNCTION, RUN, NAME, SUMMARY, EXAMPLE) &FUNCTION(),
#include "tools/foretrace/Commands.def"
    &compileCommand(),   &planCommand(), &sweepCommand(), &convertCommand(),
    &calibrateCommand(), &optCommand(),  &diffCommand()};

static cl::opt<bool> Sync("sync",
                          cl::desc("Sync all files to disk before exiting"),
                          outputOption(Writing));

static cl::opt<unsigned long long, false, driver::BytesParser>
    MaxOutput("max-output", cl::value_desc("bytes"), cl::init(64ULL << 30),
              cl::desc("Maximum size of the output, estimated before anything "
                       "is written (default: 64GiB)"),
              outputOption(Writing));

static cl::opt<bool>
    Fix("fix",
        cl::desc("First apply the fixes of errors to the files of the job, "
                 "and print them"),
        jobOption(compileCommand()), cl::sub(planCommand()));

OutputOptions outputOptions() {
  OutputOptions Options;
  Options.ShowsProgress = !isQuiet();
  Options.IsDurable = Sync;
  Options.Threads = Threads;
  Options.MaxBytes = MaxOutput;
  return Options;
}

ExitCode fixIfAsked(const FrontendOptions &Options) {
  if (!Fix)
    return ExitSuccess;
  if (jobPath() == "-")
    return usageError("--fix: standard input can't be changed");
  Error E = driver::fixFiles(jobPath(), Options, makeEngine(), outputOptions(),
                             isQuiet() ? nulls() : errs());
  return E ? failure(std::move(E), ExitEnvironment) : ExitSuccess;
}

driver::Emitter makeEmitter(StringRef Path, driver::Destination To,
                            const SourceFiles &Sources, DiagnosticEngine &Diags,
                            driver::EmitterOptions Options) {
  Options.To = std::move(To);
  Options.Stem = stemOfJob(Path);
  Options.MayLeaveFolder = AllowOutside;
  Options.IsQuiet = isQuiet();
  Options.Writing = outputOptions();
  Options.ShowsCommand = ShowCommand;
  Options.Inspect = showStatistics;
  return {std::move(Options), Sources, Diags};
}

} // namespace foretrace
