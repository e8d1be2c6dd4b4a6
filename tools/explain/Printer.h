// SPDX-License-Identifier: Apache-2.0
//
// Explanations as trees for people, as JSON for programs, and as rows.
#pragma once

#include "analysis/Derivation.h"
#include "lang/SourceFiles.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

namespace foretrace::explain {

using PrinterFn = void(llvm::ArrayRef<Subject>, const SourceFiles &,
                       llvm::raw_ostream &);

/// Prints subjects as text; parts of a subject are below it, indented.
PrinterFn printText;
/// An object for each subject, in a line: what, pass, rule, file, line, column,
/// figures.
PrinterFn printJSON;

// A row for each figure: what, figure, value, unit, expression, numbers, note,
// at.
PrinterFn printCSV;
PrinterFn printMarkdown;

inline constexpr llvm::StringLiteral PrinterWords = "text|json|csv|md";
/// The printer for one of these words; null for any other.
PrinterFn *findPrinter(llvm::StringRef Format);

} // namespace foretrace::explain
