// SPDX-License-Identifier: Apache-2.0
//
// The command line: picks the subcommand. Each has its own file.
#include "tools/foretrace/Commands.h"
#include "tools/driver/Process.h"

int main(int Argc, char **Argv) {
  return foretrace::driver::runProcess(Argc, Argv, foretrace::runCommandLine);
}
