// SPDX-License-Identifier: Apache-2.0
//
// The command line: picks the subcommand. Each has its own file.
#include "tools/driver/Process.h"
#include "tools/foretrace/Commands.h"

int main(int Argc, char **Argv) {
  return foretrace::driver::runProcess(Argc, Argv, foretrace::runCommandLine);
}
