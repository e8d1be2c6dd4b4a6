// SPDX-License-Identifier: Apache-2.0
//
// Where a byte is in a text that need not be a whole file: what someone types
// has open sections most of the time.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace foretrace::lsp {

struct Context {
  std::string Section;     ///< keyword of the innermost section; empty outside
  std::string Key;         ///< that the byte is the value of; empty if of none
  llvm::StringRef Word;    ///< at the byte, or that ends there
  bool IsInText = false;   ///< in a string, of which Word is the part before
  bool IsInImport = false; ///< that string is the path of an import
  bool IsInComment = false;
};

/// \p IsSection says which words begin a section.
Context contextAt(llvm::StringRef Text, size_t Byte,
                  llvm::function_ref<bool(llvm::StringRef)> IsSection);

} // namespace foretrace::lsp
