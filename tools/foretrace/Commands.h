// SPDX-License-Identifier: Apache-2.0
//
// The subcommands of the tool and what they exit with.
#ifndef FORETRACE_TOOLS_COMMANDS_H
#define FORETRACE_TOOLS_COMMANDS_H

#include "llvm/Support/CommandLine.h"

namespace foretrace {

/// What the process exits with.
enum ExitCode : int {
  ExitSuccess = 0,
  ExitDiagnosed = 1, ///< the input or the environment was at fault
  ExitUsage = 2,     ///< the command line was at fault
};

// Functions, not variables: options of several files register with them
// while static objects are still being constructed.
llvm::cl::SubCommand &compileCommand();
llvm::cl::SubCommand &checkCommand();
llvm::cl::SubCommand &calibrateCommand();
llvm::cl::SubCommand &groupsCommand();
llvm::cl::SubCommand &inferCommand();
llvm::cl::SubCommand &planCommand();
llvm::cl::SubCommand &optCommand();
llvm::cl::SubCommand &listCommand();
llvm::cl::SubCommand &completionCommand();
llvm::cl::SubCommand &manCommand();

// Groups in which `--help` shows the options.
llvm::cl::OptionCategory &jobCategory();
llvm::cl::OptionCategory &outputCategory();
llvm::cl::OptionCategory &messageCategory();
llvm::cl::OptionCategory &passCategory();

// What each subcommand does once the options are parsed.
ExitCode runCompile();
ExitCode runCheck();
ExitCode runCalibrate();
ExitCode runGroups();
ExitCode runInfer();
ExitCode runPlan();
ExitCode runList();
ExitCode runCompletion();
ExitCode runMan();

/// Prints `foretrace: TEXT` and where to find help.
ExitCode usageError(const llvm::Twine &Text);

/// Parses the command line and runs its subcommand.
ExitCode runCommandLine(int Argc, char **Argv);

} // namespace foretrace

#endif
