// SPDX-License-Identifier: Apache-2.0
//
// The tokens of a Python file.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <vector>

namespace foretrace::importers {

enum class PythonKind : unsigned char {
  Name,
  Number,
  Text,
  Sign,
  NewLine,
  End
};

struct PythonToken {
  PythonKind Is = PythonKind::End;
  llvm::StringRef Spelling; ///< of a text, what is between the quotes
  size_t Begin = 0, End = 0;
  size_t Column = 0; ///< of the first token of a line
};

/// Splits a file into tokens, of which the last two are the end of a line and
/// that of the file. There are no ends of lines between brackets.
std::vector<PythonToken> splitPython(llvm::StringRef All);

} // namespace foretrace::importers
