// SPDX-License-Identifier: Apache-2.0
//
// Pages of HTML that need nothing but a browser: a template with styles,
// scripts and data in it.
#pragma once

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

/// Writes the first of \p Files. In it `{{page.css}}` is another of them,
/// `{{numbers.js}}` how all pages read numbers, `{{palette}}` the colours of
/// backends/Palette.def as CSS, and `{{data}}` what \p WriteData writes: JSON,
/// within a script.
llvm::Error
writePage(llvm::ArrayRef<PageFile> Files, llvm::raw_ostream &OS,
          llvm::function_ref<llvm::Error(llvm::raw_ostream &)> WriteData);

} // namespace foretrace
