// SPDX-License-Identifier: Apache-2.0
//
// The subcommands of the tool and what they exit with.
#pragma once

#include "llvm/Support/CommandLine.h"

namespace foretrace {

/// Exit codes of the process.
enum ExitCode : int {
  ExitSuccess = 0,
  ExitDiagnosed = 1,   ///< the input has errors
  ExitUsage = 2,       ///< the command line was at fault
  ExitEnvironment = 3, ///< a file or program around it was
  ExitDiffers = 4,     ///< what was compared is not the same
};

/// Their meaning.
constexpr char ExitCodes[] =
    "0 success, 1 errors reported or no point of a sweep accepted, 2 wrong "
    "usage, 3 a file or program failed, 4 differences found";

// The options of each subcommand, and what it does once they are parsed.
// Functions, not variables: options of several files register with them while
// static objects are still being constructed.
#define SUBCOMMAND(FUNCTION, RUN, NAME, SUMMARY, EXAMPLE)                      \
  llvm::cl::SubCommand &FUNCTION();                                            \
  ExitCode RUN();
#include "tools/foretrace/Commands.def"

/// Commands that compile a job and accept `-D` and `-I`.
llvm::cl::SubCommandGroup &jobCommands();
/// Commands that show diagnostics of jobs and tables.
llvm::cl::SubCommandGroup &diagnosingCommands();

// Groups in which `--help` shows the options.
llvm::cl::OptionCategory &jobCategory();
llvm::cl::OptionCategory &outputCategory();
llvm::cl::OptionCategory &messageCategory();
llvm::cl::OptionCategory &passCategory();

/// Modifier of an option: its group, and the command, or group of commands,
/// that has it.
struct OptionPlace {
  llvm::cl::OptionCategory &Group;
  llvm::cl::sub Commands;

  template <typename OptionT> void apply(OptionT &O) const {
    O.addCategory(Group);
    Commands.apply(O);
  }
};
inline OptionPlace jobOption(llvm::cl::sub Of) { return {jobCategory(), Of}; }
inline OptionPlace outputOption(llvm::cl::sub Of) {
  return {outputCategory(), Of};
}
inline OptionPlace messageOption(llvm::cl::sub Of) {
  return {messageCategory(), Of};
}
inline OptionPlace passOption(llvm::cl::sub Of) { return {passCategory(), Of}; }

/// A command line for each subcommand, by its name.
llvm::ArrayRef<std::pair<llvm::StringRef, llvm::StringRef>> commandExamples();

/// Prints `foretrace: TEXT` and where to find help.
ExitCode usageError(const llvm::Twine &Text);

/// Parses the command line and runs its subcommand.
ExitCode runCommandLine(int Argc, char **Argv);

} // namespace foretrace
