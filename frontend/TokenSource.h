// SPDX-License-Identifier: Apache-2.0
//
// Bytes to tokens for the ANTLR parser, within limits that keep its recursion
// and ours off the end of the stack, and what ANTLR found wrong, in words of
// the language. Private to the parser.
#pragma once

#include "ForeLexer.h"
#include "ForeParser.h"
#include "lang/Diagnostic.h"

namespace foretrace {

/// Syntax errors shown for one file; further ones mostly follow from them.
constexpr unsigned MaxSyntaxErrors = 20;

/// A buffer as ANTLR wants it, without a copy. Positions are bytes. Every byte
/// that isn't ASCII reads as DEL: they only occur in strings and comments, and
/// the lexer's tables cover ASCII.
class ByteStream final : public antlr4::CharStream {
public:
  /// Skips a byte order mark.
  explicit ByteStream(llvm::StringRef Text)
      : Text(Text), Position(Text.starts_with("\xef\xbb\xbf") ? 3 : 0) {}

  void consume() override { ++Position; }
  size_t LA(ssize_t I) override {
    size_t At = Position + I - (I > 0);
    if (At >= Text.size())
      return EOF;
    unsigned char Byte = Text[At];
    return Byte < 0x80 ? Byte : 0x7f;
  }
  ssize_t mark() override { return 0; }
  void release(ssize_t) override {}
  size_t index() override { return Position; }
  void seek(size_t Index) override { Position = Index; }
  size_t size() override { return Text.size(); }
  std::string getSourceName() const override { return {}; }
  std::string getText(const antlr4::misc::Interval &I) override;
  std::string toString() const override { return Text.str(); }

private:
  llvm::StringRef Text;
  size_t Position;
};

/// The lexer, with a look at every token: reports what no grammar rule could,
/// repairs it so that the parser goes on, and ends the file early when
/// brackets or operators nest too deep.
class TokenSource final : public grammar::ForeLexer {
public:
  TokenSource(ByteStream &Stream, SourceText Text, DiagnosticEngine &Diags);

  std::unique_ptr<antlr4::Token> nextToken() override;

  /// Ends the file here.
  void stop() { Stream.seek(Stream.size()); }
  /// Returns whether anything was reported.
  bool failed() const { return NumErrors != 0; }
  /// Returns whether the file was cut short, so that its end means nothing.
  bool stopped() const { return NumErrors >= MaxSyntaxErrors; }

private:
  bool isUsable(antlr4::Token &T);
  void checkDepth(const antlr4::Token &T);

  ByteStream &Stream;
  SourceText Text;
  DiagnosticEngine &Diags;
  unsigned NumErrors = 0;
  size_t Before = antlr4::Token::INVALID_TYPE; ///< type of the last token
  /// Operators pending in each open bracket, outermost first.
  llvm::SmallVector<unsigned, 16> Pending{0};
  unsigned TotalPending = 0;
};

/// Bytes of \p T in \p Text.
SourceRange getRange(const antlr4::Token &T, SourceText Text);

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
