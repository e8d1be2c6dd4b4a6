// SPDX-License-Identifier: Apache-2.0
//
// The command line: picks the subcommand. Each has its own file.
#include "tools/foretrace/Commands.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Signals.h"
#include <csignal>

/// Nobody reads on, as in `foretrace groups job.fore | head`: ends as any
/// filter does, once the files that were begun are removed.
static void endOfPipe() {
  (void)std::signal(SIGPIPE, SIG_DFL);
  (void)std::raise(SIGPIPE);
}

int main(int Argc, char **Argv) {
  // LLVM's own handler exits with 74.
  llvm::sys::SetOneShotPipeSignalFunction(endOfPipe);
  llvm::InitLLVM Init(Argc, Argv, /*InstallPipeSignalExitHandler=*/false);
  return foretrace::runCommandLine(Argc, Argv);
}
