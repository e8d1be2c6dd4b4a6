// SPDX-License-Identifier: Apache-2.0
#include "tools/foretrace/Commands.h"
#include "tools/driver/NearMisses.h"
#include "tools/foretrace/Messages.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace foretrace {

#define SUBCOMMAND(FUNCTION, RUN, NAME, SUMMARY)                               \
  cl::SubCommand &FUNCTION() {                                                 \
    static cl::SubCommand Command(NAME, SUMMARY);                              \
    return Command;                                                            \
  }
#include "tools/foretrace/Commands.def"

cl::SubCommandGroup &jobCommands() {
  static cl::SubCommandGroup Group = {
#define SUBCOMMAND(...)
#define ANSWER(FUNCTION, RUN, NAME, SUMMARY) &FUNCTION(),
#include "tools/foretrace/Commands.def"
      &compileCommand(), &planCommand(),  &sweepCommand(),
      &explainCommand(), &checkCommand(), &calibrateCommand(),
      &groupsCommand()};
  return Group;
}

cl::SubCommandGroup &diagnosingCommands() {
  static cl::SubCommandGroup Group = {
#define SUBCOMMAND(...)
#define ANSWER(FUNCTION, RUN, NAME, SUMMARY) &FUNCTION(),
#include "tools/foretrace/Commands.def"
      &compileCommand(), &planCommand(),      &sweepCommand(),
      &checkCommand(),   &calibrateCommand(), &fitCommand(),
      &groupsCommand(),  &convertCommand(),   &optCommand(),
      &explainCommand(), &diffCommand(),      &importCommand(),
      &exportCommand(),  &fmtCommand()};
  return Group;
}

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
#define SUBCOMMAND(FUNCTION, RUN, NAME, SUMMARY) {FUNCTION, RUN},
#include "tools/foretrace/Commands.def"
};

static constexpr char Overview[] =
    "Foretrace compiles the description of an LLM training job to workloads "
    "for simulators\n";

static cl::extrahelp ExitCodes("\nExit codes: 0 success, 1 errors reported, 2 "
                               "wrong usage, 3 a sweep cannot continue\n");

ExitCode usageError(const Twine &Text) {
  errs() << "foretrace: " << Text << "\ntry: foretrace --help\n";
  return ExitUsage;
}

static void printVersion(raw_ostream &OS) {
  OS << "foretrace " FORETRACE_VERSION "\n";
}

ExitCode runCommandLine(int Argc, char **Argv) {
  // LLVM's own messages blame what follows a mistake, too.
  if (Argc > 1 && Argv[1][0] != '-') {
    const Command *C = nullptr;
    std::vector<StringRef> Names;
    for (const Command &Of : Commands)
      if (Names.push_back(Of.Get().getName()); Names.back() == Argv[1])
        C = &Of;
    if (!C)
      return usageError(driver::unknownCommand(Argv[1], Names));
    const StringMap<cl::Option *> &Options = cl::getRegisteredOptions(C->Get());
    if (const std::string Slip = driver::mistakenArgument(
            ArrayRef(Argv, Argc).drop_front(2),
            [&](StringRef Name) { return Options.count(Name) != 0; });
        !Slip.empty())
      return usageError(Slip);
  }
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
    if (C.Get()) {
      const ExitCode Code = C.Run();
      finishMessages();
      return Code;
    }
  return usageError("a subcommand is missing, for example "
                    "`foretrace compile job.fore`");
}

} // namespace foretrace
