// SPDX-License-Identifier: Apache-2.0
//
// A parse tree as formatted text. Private to the parser.
#pragma once

#include "ForeParser.h"
#include "lang/Diagnostic.h"
#include <string>

namespace foretrace {

/// The text of an undamaged tree, as formatFore says; \p Text is what its
/// tokens index by byte.
std::string formatFile(grammar::ForeParser::FileContext &Tree, SourceText Text,
                       DiagnosticEngine &);

} // namespace foretrace
