// SPDX-License-Identifier: Apache-2.0
//
// What ANTLR found wrong, in words of the language. Private to the parser.
#pragma once

#include "ForeParser.h"
#include "lang/Diagnostic.h"

namespace foretrace {

class TokenSource;

/// Reports each syntax error of a parse as a diagnostic, and ends \p Source
/// when they are enough.
class SyntaxErrors final : public antlr4::BaseErrorListener {
public:
  SyntaxErrors(SourceText Text, TokenSource &Source, DiagnosticEngine &Diags)
      : Text(Text), Source(Source), Diags(Diags) {}

  void syntaxError(antlr4::Recognizer *Parser, antlr4::Token *Found,
                   size_t Line, size_t Column, const std::string &Message,
                   std::exception_ptr Cause) override;

private:
  SourceText Text;
  TokenSource &Source;
  DiagnosticEngine &Diags;
  unsigned NumErrors = 0;
};

} // namespace foretrace
