// SPDX-License-Identifier: Apache-2.0
//
// The shipped models and clusters, which are part of the program.
#ifndef FORETRACE_LANG_LIBRARY_H
#define FORETRACE_LANG_LIBRARY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace foretrace {

/// What messages call the folder that the library is in.
constexpr char LibraryFolder[] = "<library>";

struct LibraryFile {
  llvm::StringRef Path; ///< as a job imports it, `models/llama3-8b.fore`
  llvm::StringRef Text;
};

/// All files, by path.
llvm::ArrayRef<LibraryFile> libraryFiles();

} // namespace foretrace

#endif
