// SPDX-License-Identifier: Apache-2.0
//
// Names that a job declares in vain.
#pragma once

#include "lang/AST.h"
#include "lang/Diagnostic.h"

namespace foretrace {

/// A name, and the item that declares it.
struct UnusedName {
  llvm::StringRef Kind; ///< `import`
  const ast::Word *Name;
  SourceRange Item;
};

/// Returns the params, lets and names of imports that no other part of \p File
/// mentions, not even in a string or under a condition that does not hold. \p
/// Text is its text.
std::vector<UnusedName> findUnusedNames(const ast::File &File,
                                        llvm::StringRef Text);
/// Warns of names that are not used.
void reportUnusedNames(const ast::File &File, SourceText Text,
                       DiagnosticEngine &Diags);

} // namespace foretrace
