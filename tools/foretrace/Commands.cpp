// SPDX-License-Identifier: Apache-2.0
#include "tools/foretrace/Commands.h"
#include "lang/Version.h"
#include "tools/driver/Arguments.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace foretrace {

#define SUBCOMMAND(FUNCTION, RUN, NAME, SUMMARY, EXAMPLE)                      \
  cl::SubCommand &FUNCTION() {                                                 \
    static cl::SubCommand Command(NAME, SUMMARY);                              \
    return Command;                                                            \
  }
#include "tools/foretrace/Commands.def"

cl::SubCommandGroup &jobCommands() {
  static cl::SubCommandGroup Group = {
#define SUBCOMMAND(...)
#define ANSWER(FUNCTION, RUN, NAME, SUMMARY, EXAMPLE) &FUNCTION(),
#include "tools/foretrace/Commands.def"
      &compileCommand(),   &planCommand(),    &sweepCommand(),
      &exploreCommand(),   &explainCommand(), &checkCommand(),
      &calibrateCommand(), &groupsCommand()};
  return Group;
}

cl::SubCommandGroup &diagnosingCommands() {
  static cl::SubCommandGroup Group = {
#define SUBCOMMAND(...)
#define ANSWER(FUNCTION, RUN, NAME, SUMMARY, EXAMPLE) &FUNCTION(),
#include "tools/foretrace/Commands.def"
      &compileCommand(), &planCommand(),    &sweepCommand(),
      &exploreCommand(), &checkCommand(),   &calibrateCommand(),
      &fitCommand(),     &groupsCommand(),  &convertCommand(),
      &optCommand(),     &explainCommand(), &diffCommand(),
      &importCommand(),  &exportCommand(),  &fmtCommand(),
      &newCommand()};
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
  StringLiteral Example;
};
static constexpr Command Commands[] = {
#define SUBCOMMAND(FUNCTION, RUN, NAME, SUMMARY, EXAMPLE)                      \
  {FUNCTION, RUN, EXAMPLE},
#include "tools/foretrace/Commands.def"
};

static constexpr char Overview[] =
    "Foretrace compiles the description of an LLM training job to workloads "
    "for simulators\n";

ExitCode usageError(const Twine &Text) {
  errs() << "foretrace: " << Text << "\ntry: foretrace --help\n";
  return ExitUsage;
}

static void printVersion(raw_ostream &OS) {
  OS << "foretrace " FORETRACE_VERSION "\n";
}

/// `help plan` is `plan --help`, and `version` is `--version`.
static void replaceWords(SmallVectorImpl<char *> &Words) {
  static char Help[] = "--help", Version[] = "--version";
  if (Words.size() < 2)
    return;
  const StringRef First = Words[1];
  if (First == "version") {
    Words[1] = Version;
  } else if (First == "help" && Words.size() == 2) {
    Words[1] = Help;
  } else if (First == "help") {
    Words.erase(Words.begin() + 1);
    Words.push_back(Help);
  }
  for (char *&Word : drop_begin(Words)) {
    if (StringRef(Word) == "--")
      break;
    if (StringRef(Word) == "-h")
      Word = Help;
  }
}

ArrayRef<std::pair<StringRef, StringRef>> commandExamples() {
  static const std::vector<std::pair<StringRef, StringRef>> All = [] {
    std::vector<std::pair<StringRef, StringRef>> Made;
    for (const Command &C : Commands)
      Made.emplace_back(C.Get().getName(), C.Example);
    return Made;
  }();
  return All;
}

ExitCode runCommandLine(int GivenArgc, char **GivenArgv) {
  SmallVector<char *, 16> Words(GivenArgv, GivenArgv + GivenArgc);
  replaceWords(Words);
  const int Argc = static_cast<int>(Words.size());
  char **Argv = Words.data();
  std::string More;
  // LLVM's own messages also blame the words after a mistake.
  if (Argc > 1 && Argv[1][0] != '-') {
    const Command *C = nullptr;
    std::vector<StringRef> Names;
    for (const Command &Of : Commands)
      if (Names.push_back(Of.Get().getName()); Names.back() == Argv[1])
        C = &Of;
    if (!C)
      return usageError(driver::unknownCommand(Argv[1], Names));
    More = "\nExample:\n  " + C->Example.str() + "\n";
    const StringMap<cl::Option *> &Options = cl::getRegisteredOptions(C->Get());
    if (const std::string Slip = driver::replaceKeys(
            MutableArrayRef(Argv, Argc).drop_front(2),
            [&](StringRef Name) { return Options.count(Name) != 0; });
        !Slip.empty())
      return usageError(Slip);
  }
  More += ("\nExit codes: " + Twine(ExitCodes) + "\n").str();
  const cl::extrahelp MoreHelp(More);
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
      const ExitCode Code = isJobPrinted() ? printJob() : runOrWatch(C.Run);
      finishMessages();
      return Code;
    }
  return usageError("a subcommand is missing, for example "
                    "`foretrace compile job.fore`");
}

} // namespace foretrace
