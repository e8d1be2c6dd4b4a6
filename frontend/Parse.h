// SPDX-License-Identifier: Apache-2.0
//
// Text to AST. The only door to ANTLR and toml++; neither shows here.
// Private to the frontend.
#pragma once

#include "lang/AST.h"
#include "lang/Diagnostic.h"
#include <optional>

namespace foretrace {

/// The depth to which brackets, tables and arrays nest: far beyond what a
/// person writes, and far below what overflows the stack of ANTLR or toml++.
constexpr unsigned MaxNesting = 256;

/// Returns whether \p Text is UTF-8 without NUL bytes and of bearable size, as
/// it must be before a parser sees it; reports the first violation.
bool checkText(SourceText Text, DiagnosticEngine &Diags);

/// Parses a `.fore` file. On a syntax error reports all that were found and
/// returns nothing. Safe on any bytes.
std::optional<ast::File> parseFore(SourceText Text, DiagnosticEngine &Diags);

/// Parses the text of a `.fore` file; nothing on a syntax error, which is not
/// reported.
std::optional<ast::File> parseText(llvm::StringRef Text);

/// Returns whether \p Word cannot name anything.
bool isReserved(llvm::StringRef Word);

/// Parses one expression, as `-D name=value` gives it.
ast::ExprPtr parseExpression(SourceText Text, DiagnosticEngine &Diags);

/// Parses the values of an axis, as `--sweep key=values` gives them.
std::optional<std::vector<ast::Axis::Element>>
parseElements(SourceText Text, DiagnosticEngine &Diags);

/// Parses a TOML file into a section whose keyword is empty.
std::optional<ast::Section> parseToml(SourceText Text, DiagnosticEngine &Diags);

} // namespace foretrace
