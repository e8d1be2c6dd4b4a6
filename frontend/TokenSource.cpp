// SPDX-License-Identifier: Apache-2.0
#include "frontend/TokenSource.h"
#include "WritableToken.h"

using namespace antlr4;
using foretrace::grammar::ForeLexer;

namespace foretrace {

/// Far beyond what a person writes, and far below what overflows a stack.
static constexpr unsigned MaxNesting = 256;
static constexpr unsigned MaxPending = 1024;

std::string ByteStream::getText(const misc::Interval &I) {
  return Text.substr(I.a, I.b + 1 - I.a).str();
}

SourceRange getRange(const Token &T, llvm::StringRef Text) {
  size_t Begin = std::min(T.getStartIndex(), Text.size());
  size_t End = std::min(std::max(T.getStopIndex() + 1, Begin), Text.size());
  return {llvm::SMLoc::getFromPointer(Text.data() + Begin),
          llvm::SMLoc::getFromPointer(Text.data() + End)};
}

TokenSource::TokenSource(ByteStream &Stream, llvm::StringRef Text,
                         DiagnosticEngine &Diags)
    : ForeLexer(&Stream), Stream(Stream), Text(Text), Diags(Diags) {
  removeErrorListeners();
}

std::unique_ptr<Token> TokenSource::nextToken() {
  for (;;) {
    std::unique_ptr<Token> T = ForeLexer::nextToken();
    if (!isUsable(*T))
      continue;
    checkDepth(*T);
    return T;
  }
}

/// Reports a token that no rule of the grammar takes. An open string is closed
/// so that the parser sees a value.
bool TokenSource::isUsable(Token &T) {
  size_t Type = T.getType();
  if (Type != BAD_CHARACTER && Type != OPEN_STRING)
    return true;
  SourceRange Range = getRange(T, Text);
  if (Type == OPEN_STRING) {
    Diags.report(Range, diag::UnterminatedString);
    static_cast<WritableToken &>(T).setType(STRING);
  } else if (T.getText() == ";") {
    Diags.report(Range, diag::NoSeparator, ";").fix(Range, "");
  } else {
    llvm::StringRef Seen(Range.Start.getPointer(),
                         Range.End.getPointer() - Range.Start.getPointer());
    bool Printable = llvm::all_of(
        Seen, [](unsigned char C) { return C >= 0x20 && C != 0x7f; });
    Diags.report(Range, diag::BadCharacter,
                 Printable ? "`" + Seen.str() + "`"
                           : llvm::formatv("byte {0:x2}",
                                           unsigned(Seen.bytes_begin()[0]))
                                 .str());
  }
  if (++NumErrors == MaxSyntaxErrors)
    stop();
  return Type == OPEN_STRING;
}

/// Brackets and operators that wait for their right side are what the parser
/// and the AST recurse on.
void TokenSource::checkDepth(const Token &T) {
  switch (T.getType()) {
  case LBRACE:
  case LPAREN:
  case LBRACKET:
    Pending.push_back(0);
    break;
  case RBRACE:
  case RPAREN:
  case RBRACKET:
    TotalPending -= Pending.back();
    Pending.back() = 0;
    if (Pending.size() > 1)
      Pending.pop_back();
    break;
  case COMMA:
  case ASSIGN:
  case LET:
  case PARAM:
  case REQUIRE:
    TotalPending -= Pending.back();
    Pending.back() = 0;
    break;
  case PLUS:
  case MINUS:
  case STAR:
  case SLASH:
  case PERCENT:
  case EQ:
  case NE:
  case LT:
  case LE:
  case GT:
  case GE:
  case AND:
  case OR:
  case NOT:
  case IF:
    ++Pending.back();
    ++TotalPending;
    break;
  default:
    return;
  }
  if (Pending.size() > MaxNesting + 1)
    Diags.report(getRange(T, Text), diag::NestingTooDeep, MaxNesting);
  else if (TotalPending > MaxPending)
    Diags.report(getRange(T, Text), diag::ExpressionTooLong, MaxPending);
  else
    return;
  NumErrors = MaxSyntaxErrors;
  stop();
}

} // namespace foretrace
