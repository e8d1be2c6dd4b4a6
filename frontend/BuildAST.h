// SPDX-License-Identifier: Apache-2.0
//
// Parse tree to AST, or to formatted text. Private to the parser.
#pragma once

#include "ForeParser.h"
#include "lang/AST.h"
#include "lang/Diagnostic.h"
#include <string>

namespace foretrace {

/// The AST of an undamaged tree; \p Text is what its tokens index by byte.
/// Reports unknown escapes in strings.
ast::File buildFile(grammar::ForeParser::FileContext &Tree, SourceText Text,
                    DiagnosticEngine &Diags);

/// Builds the syntax tree of one expression.
ast::ExprPtr buildExpression(grammar::ForeParser::ExpressionContext &Tree,
                             SourceText Text, DiagnosticEngine &Diags);

/// Builds the syntax tree of an expression that is part of another construct.
ast::ExprPtr buildExpr(grammar::ForeParser::ExprContext &Tree, SourceText Text,
                       DiagnosticEngine &Diags);

/// Builds the syntax trees of the elements of an axis.
std::vector<ast::Axis::Element>
buildElements(grammar::ForeParser::GivenElementsContext &Tree, SourceText Text,
              DiagnosticEngine &Diags);

/// The layer of a kind of layer; \p Text is what its tokens index by byte,
/// and must outlive it.
ast::Layer buildLayer(grammar::ForeParser::LayerContext &Tree, SourceText Text,
                      DiagnosticEngine &Diags);

/// Returns the text of an undamaged tree as formatFore does; tokens index
/// \p Text by byte.
std::string formatFile(grammar::ForeParser::FileContext &Tree, SourceText Text,
                       DiagnosticEngine &);

} // namespace foretrace
