// SPDX-License-Identifier: Apache-2.0
//
// Commands: as a shell reads them, and run. A command is its words, of which
// the first is the program.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace foretrace::sweep {

/// Returns \p Word quoted as one word for a shell.
std::string quoted(llvm::StringRef Word);
/// A line without its end.
std::string quoted(llvm::ArrayRef<std::string> Command);

/// How a program ended.
struct Outcome {
  int Code = 0;               ///< its exit code; negative if it has none
  std::string Output, Errors; ///< its standard output and error
  std::string WhyNone;        ///< no exit code: the signal, for example

  /// Returns why the program failed, with its output.
  std::string reason() const;
};

/// Runs \p Command without input, and captures its output. An error if there is
/// no such program, on PATH if it has no folder.
llvm::Expected<Outcome> capture(llvm::ArrayRef<std::string> Command);

} // namespace foretrace::sweep
