// SPDX-License-Identifier: Apache-2.0
//
// Reads the text form of a program (docs/ir.md). Any bytes may come in; the
// result is only well-formed, not verified (ir/verify/Verify.h).
#ifndef FORETRACE_IR_TEXT_PARSE_H
#define FORETRACE_IR_TEXT_PARSE_H

#include "ir/model/Program.h"
#include "lang/Diagnostic.h"
#include "lang/SourceFiles.h"
#include <optional>

namespace foretrace::ir {

/// Parses \p File of \p Sources; nothing after an error. Every
/// value and op points to its place in the text; an op with a `loc` points to
/// that place instead if the file can be read, which then joins \p Sources.
std::optional<Program> parse(SourceFiles &Sources, FileId File,
                             DiagnosticEngine &Diags);

} // namespace foretrace::ir

#endif
