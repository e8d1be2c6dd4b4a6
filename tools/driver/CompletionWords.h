// SPDX-License-Identifier: Apache-2.0
//
// Words that options of the command line take, from the tables that have them:
// for completion in a shell.
#ifndef FORETRACE_TOOLS_DRIVER_COMPLETIONWORDS_H
#define FORETRACE_TOOLS_DRIVER_COMPLETIONWORDS_H

#include "llvm/ADT/StringRef.h"
#include <vector>

namespace foretrace::driver {

/// What can follow an option of a subcommand, or the subcommand itself if
/// Option is empty.
struct CompletionWords {
  llvm::StringRef Command, Option;
  std::vector<llvm::StringRef> Words;
};

/// Of all options that name a backend, a pass, a list, or a value of an option
/// of `emit` blocks, but where the help has the words: `<table|json>`.
std::vector<CompletionWords> completionWords();

} // namespace foretrace::driver

#endif
