// SPDX-License-Identifier: Apache-2.0
//
// The words of a text that need not be a whole file: what someone types has
// open sections and strings most of the time.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <vector>

namespace foretrace::lsp {

struct LooseToken {
  enum class Kind : unsigned char {
    Comment,
    String, ///< with its quotes, of which the last can be missing
    Number, ///< with a unit that touches it
    Word,
    Sign, ///< a single character
  };
  Kind Is;
  size_t Begin, End;
  bool IsClosed = true; ///< of a string

  llvm::StringRef in(llvm::StringRef Text) const {
    return Text.slice(Begin, End);
  }
};

std::vector<LooseToken> tokensOf(llvm::StringRef Text);

} // namespace foretrace::lsp
