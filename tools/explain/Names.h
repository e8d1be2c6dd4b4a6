// SPDX-License-Identifier: Apache-2.0
//
// Names that were possible where one is unknown. Private to tools/explain.
#ifndef FORETRACE_TOOLS_EXPLAIN_NAMES_H
#define FORETRACE_TOOLS_EXPLAIN_NAMES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace foretrace::explain {

/// Names of things in blocks, each also with its block's.
class NameList {
public:
  void add(llvm::StringRef Block, llvm::StringRef Name);
  /// Says that \p Name is not \p What, "an op", and what was meant, or what
  /// there is.
  llvm::Error unknown(llvm::StringRef What, llvm::StringRef Name) const;

private:
  std::vector<std::string> Plain, InBlocks; ///< each name once
};

} // namespace foretrace::explain

#endif
