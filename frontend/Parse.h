// SPDX-License-Identifier: Apache-2.0
//
// Text to AST. The only door to ANTLR and toml++; neither shows here.
#ifndef FORETRACE_FRONTEND_PARSE_H
#define FORETRACE_FRONTEND_PARSE_H

#include "frontend/AST.h"
#include "lang/Diagnostic.h"
#include "llvm/Support/SourceMgr.h"
#include <optional>

namespace foretrace {

/// Parses buffer \p BufferId of \p Sources as a `.fore` file. On a syntax
/// error reports all that were found and returns nothing. Safe on any bytes.
std::optional<ast::File> parseFore(const llvm::SourceMgr &Sources,
                                   unsigned BufferId, DiagnosticEngine &Diags);

/// Parses one expression, as `-D name=value` gives it. \p Text lies in a
/// buffer, so that ranges can point into it.
ast::ExprPtr parseExpression(llvm::StringRef Text, DiagnosticEngine &Diags);

/// Parses buffer \p BufferId as TOML into a section whose keyword is empty.
std::optional<ast::Section> parseToml(const llvm::SourceMgr &Sources,
                                      unsigned BufferId,
                                      DiagnosticEngine &Diags);

} // namespace foretrace

#endif
