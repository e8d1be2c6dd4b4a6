// SPDX-License-Identifier: Apache-2.0
//
// Explanations as trees for people, and as JSON for programs.
#ifndef FORETRACE_TOOLS_EXPLAIN_PRINTER_H
#define FORETRACE_TOOLS_EXPLAIN_PRINTER_H

#include "lang/SourceFiles.h"
#include "tools/explain/Figure.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

namespace foretrace::explain {

using PrinterFn = void(llvm::ArrayRef<Subject>, const SourceFiles &,
                       llvm::raw_ostream &);

/// What belongs to something stands below it, further in.
PrinterFn printText;
/// An object for each subject, in a line: what, pass, rule, file, line, column,
/// figures.
PrinterFn printJSON;

/// The printer for `text` or `json`; null for any other format.
PrinterFn *findPrinter(llvm::StringRef Format);

} // namespace foretrace::explain

#endif
