// SPDX-License-Identifier: Apache-2.0
//
// Pages of HTML that need nothing but a browser: a template with styles,
// scripts and data in it.
#ifndef FORETRACE_BACKENDS_PAGETEMPLATE_H
#define FORETRACE_BACKENDS_PAGETEMPLATE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace foretrace {

/// A part of a page: a file that the program holds.
struct PageFile {
  llvm::StringLiteral Name, Text;
};

/// Writes the first of \p Files. `{{page.css}}` in it is another of them, and
/// `{{data}}` what \p WriteData writes: JSON, which stands in a script there.
llvm::Error
writePage(llvm::ArrayRef<PageFile> Files, llvm::raw_ostream &OS,
          llvm::function_ref<llvm::Error(llvm::raw_ostream &)> WriteData);

} // namespace foretrace

#endif
