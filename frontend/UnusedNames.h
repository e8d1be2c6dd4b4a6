// SPDX-License-Identifier: Apache-2.0
//
// Names that a job declares in vain. Private to the frontend.
#ifndef FORETRACE_FRONTEND_UNUSEDNAMES_H
#define FORETRACE_FRONTEND_UNUSEDNAMES_H

#include "lang/AST.h"
#include "lang/Diagnostic.h"

namespace foretrace {

/// Warns of params, lets and names of imports that no other part of the file
/// mentions, not even in a string or under a condition that does not hold.
void reportUnusedNames(const ast::File &File, SourceText Text,
                       DiagnosticEngine &Diags);

} // namespace foretrace

#endif
