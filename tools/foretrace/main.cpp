// SPDX-License-Identifier: Apache-2.0
//
// The command line: picks the subcommand. Each has its own file.
#include "tools/foretrace/Commands.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Signals.h"
#include <csignal>

/// Nobody reads on, as in `foretrace groups job.fore | head`: ends as any
/// filter does, once the files that were begun are removed.
static void endOfPipe() {
  (void)std::signal(SIGPIPE, SIG_DFL);
  (void)std::raise(SIGPIPE);
}

/// What whoever started us wants to be ignored, as `nohup` does.
static llvm::SmallVector<int> ignoredSignals() {
  llvm::SmallVector<int> Ignored;
  for (int Signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) {
    struct sigaction Now;
    if (sigaction(Signal, nullptr, &Now) == 0 && Now.sa_handler == SIG_IGN)
      Ignored.push_back(Signal);
  }
  return Ignored;
}

int main(int Argc, char **Argv) {
  const llvm::SmallVector<int> Ignored = ignoredSignals();
  // LLVM's own handler exits with 74.
  llvm::sys::SetOneShotPipeSignalFunction(endOfPipe);
  llvm::InitLLVM Init(Argc, Argv, /*InstallPipeSignalExitHandler=*/false);
  for (int Signal : Ignored) // LLVM has taken these too
    (void)std::signal(Signal, SIG_IGN);
  // A limit on the size of files is met as a full disk is, by whoever writes.
  (void)std::signal(SIGXFSZ, SIG_IGN);
  return foretrace::runCommandLine(Argc, Argv);
}
