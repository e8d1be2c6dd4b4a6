// SPDX-License-Identifier: Apache-2.0
//
// The command line: picks the subcommand. Each has its own file.
#include "tools/foretrace/Commands.h"
#include "llvm/Support/InitLLVM.h"

int main(int Argc, char **Argv) {
  llvm::InitLLVM Init(Argc, Argv);
  return foretrace::runCommandLine(Argc, Argv);
}
