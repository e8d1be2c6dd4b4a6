// SPDX-License-Identifier: Apache-2.0
//
// Parses the text form of a program (docs/ir.md). Input may be any bytes; the
// result is well-formed but not verified (ir/verify/Verify.h).
#pragma once

#include "ir/model/Program.h"
#include "lang/Diagnostic.h"
#include "lang/SourceFiles.h"
#include <optional>

namespace foretrace::ir {

/// Parses \p File of \p Sources; returns nothing after an error. The location
/// of every value and op is its place in the text. An op with a `loc` has that
/// location instead if the file can be read; the file is then added to \p
/// Sources.
std::optional<Program> parse(SourceFiles &Sources, FileId File,
                             DiagnosticEngine &Diags);

} // namespace foretrace::ir
