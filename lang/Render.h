// SPDX-License-Identifier: Apache-2.0
//
// Shows diagnostics: with carets for people, as JSON for programs.
#ifndef FORETRACE_LANG_RENDER_H
#define FORETRACE_LANG_RENDER_H

#include "lang/Diagnostic.h"
#include "lang/SourceFiles.h"
#include "llvm/Support/raw_ostream.h"

namespace foretrace {

/// Prints every diagnostic with its line, carets, notes and fix-its, in order
/// of file and position, each at most once, and how many more there were.
void renderText(const DiagnosticEngine &Diags, const SourceFiles &Sources,
                llvm::raw_ostream &OS, bool Colors);

/// Prints one JSON object a line: slug, severity, message, arguments, file,
/// line, column, end, notes, fixits. Columns are 1-based bytes.
void renderJSON(const DiagnosticEngine &Diags, const SourceFiles &Sources,
                llvm::raw_ostream &OS);

/// Where a range begins, `job.fore:12`; empty if it is written nowhere.
std::string lineOf(const SourceFiles &Sources, SourceRange Range);

} // namespace foretrace

#endif
