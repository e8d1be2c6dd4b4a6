// SPDX-License-Identifier: Apache-2.0
//
// Changes of keys written into the text of a job.
#pragma once

#include "tools/compiler/Compiler.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace foretrace::explore {

struct WrittenJob {
  std::string Text;
  /// Changes that have no place in the text: keys of an imported model, keys
  /// within an `if`.
  std::vector<std::string> Rest;
};

/// Writes \p Changes, `parallel.tp=4` each, of which the last one of a key
/// applies, into \p Text. A key that is set gets another value, any other one
/// is added to its section. `cluster=h100` replaces the section by one that
/// imports this cluster. Keys of an imported model are those of a new one that
/// is based on it if \p Model names it; with an empty name they have no place.
/// A text in the style of `fmt` stays in it. All are the rest if the text has
/// syntax errors.
WrittenJob writeChanges(llvm::StringRef Text,
                        llvm::ArrayRef<std::string> Changes,
                        llvm::StringRef Model = "");

/// Returns the text of the job at \p Path, in the style of `fmt`, with the keys
/// that \p Options give and those that are assumed. \p S is the job as
/// \p Session has read it with these options. An error if a key has no place in
/// the text.
llvm::Expected<std::string> printJob(Compiler &Session, llvm::StringRef Path,
                                     const ir::Spec &S,
                                     FrontendOptions Options);

} // namespace foretrace::explore
