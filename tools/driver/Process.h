// SPDX-License-Identifier: Apache-2.0
//
// What the process does about signals, a lack of memory and its own mistakes.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

namespace foretrace::driver {

/// Runs the command line. Handlers for crashes and signals remove unfinished
/// files and print one line about what happened. Signals that are ignored stay
/// ignored.
int runProcess(int Argc, char **Argv,
               llvm::function_ref<int(int, char **)> CommandLine);

/// While one lives, threads that begin have stacks that suit the limits on how
/// deep input nests. For a library: runProcess does so for its process.
class LargeStacks {
public:
  LargeStacks();
  ~LargeStacks();
  LargeStacks(const LargeStacks &) = delete;
  LargeStacks &operator=(const LargeStacks &) = delete;
};

} // namespace foretrace::driver
