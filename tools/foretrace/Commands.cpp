// SPDX-License-Identifier: Apache-2.0
#include "tools/foretrace/Commands.h"
#include "tools/foretrace/Library.h"
#include "tools/foretrace/Opt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace foretrace {

#define SUBCOMMAND(FUNCTION, NAME, SUMMARY)                                    \
  cl::SubCommand &FUNCTION() {                                                 \
    static cl::SubCommand Command(NAME, SUMMARY);                              \
    return Command;                                                            \
  }
SUBCOMMAND(compileCommand, "compile",
           "Compile a job and write what its `emit` blocks ask for")
SUBCOMMAND(planCommand, "plan", "Print which layers each pipeline stage holds")
SUBCOMMAND(checkCommand, "check",
           "Hold traces of a real run against the job they should be of")
SUBCOMMAND(calibrateCommand, "calibrate",
           "Measure times and links from the traces of a run")
SUBCOMMAND(groupsCommand, "groups",
           "Print which ranks of a job communicate with each other")
SUBCOMMAND(inferCommand, "infer",
           "Write a job as far as the traces of a run show it")
SUBCOMMAND(optCommand, "opt", "Run passes on the text form of the IR")
SUBCOMMAND(listCommand, "list", "List passes, backends, models or diagnostics")
SUBCOMMAND(completionCommand, "completion",
           "Print a completion script for a shell")
SUBCOMMAND(manCommand, "man", "Print the manual page")
#undef SUBCOMMAND

#define CATEGORY(FUNCTION, TITLE)                                              \
  cl::OptionCategory &FUNCTION() {                                             \
    static cl::OptionCategory Category(TITLE);                                 \
    return Category;                                                           \
  }
CATEGORY(jobCategory, "Job")
CATEGORY(outputCategory, "Output")
CATEGORY(messageCategory, "Messages")
CATEGORY(passCategory, "Passes")
#undef CATEGORY

/// A subcommand and what runs it.
struct Command {
  cl::SubCommand &(*Get)();
  ExitCode (*Run)();
};
static constexpr Command Commands[] = {
    {compileCommand, runCompile},
    {planCommand, runPlan},
    {checkCommand, runCheck},
    {calibrateCommand, runCalibrate},
    {groupsCommand, runGroups},
    {inferCommand, runInfer},
    {optCommand, runOpt},
    {listCommand, runList},
    {completionCommand, runCompletion},
    {manCommand, runMan},
};

static constexpr char Overview[] =
    "Foretrace compiles the description of an LLM training job to workloads "
    "for simulators\n";

static cl::extrahelp
    ExitCodes("\nExit codes: 0 done, 1 diagnosed, 2 wrong usage\n");

ExitCode usageError(const Twine &Text) {
  errs() << "foretrace: " << Text << "\ntry: foretrace --help\n";
  return ExitUsage;
}

static void printVersion(raw_ostream &OS) {
  OS << "foretrace " FORETRACE_VERSION "\n";
}

/// LLVM's own message for an unknown subcommand blames its arguments too.
static bool isUnknownCommand(StringRef Name) {
  return !Name.starts_with("-") && none_of(Commands, [&](const Command &C) {
    return C.Get().getName() == Name;
  });
}

ExitCode runCommandLine(int Argc, char **Argv) {
  if (Argc > 1 && isUnknownCommand(Argv[1]))
    return usageError("`" + Twine(Argv[1]) + "` is not a subcommand");
  findLibrary(Argv[0]);
  cl::SetVersionPrinter(printVersion);
  for (const Command &C : Commands)
    cl::HideUnrelatedOptions({&jobCategory(), &outputCategory(),
                              &messageCategory(), &passCategory()},
                             C.Get());
  cl::HideUnrelatedOptions({&jobCategory()});
  if (!cl::ParseCommandLineOptions(Argc, Argv, Overview, &errs(), nullptr,
                                   /*LongOptionsUseDoubleDash=*/true))
    return ExitUsage;
  for (const Command &C : Commands)
    if (C.Get())
      return C.Run();
  return usageError("a subcommand is missing, for example "
                    "`foretrace compile job.fore`");
}

} // namespace foretrace
