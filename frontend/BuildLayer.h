// SPDX-License-Identifier: Apache-2.0
//
// Parse tree of a kind of layer to its nodes. Private to the parser.
#pragma once

#include "ForeParser.h"
#include "lang/AST.h"
#include "lang/Diagnostic.h"

namespace foretrace {

/// The layer of an undamaged tree; \p Text is what its tokens index by byte,
/// and must outlive it.
ast::Layer buildLayer(grammar::ForeParser::LayerContext &Tree, SourceText Text,
                      DiagnosticEngine &Diags);

} // namespace foretrace
