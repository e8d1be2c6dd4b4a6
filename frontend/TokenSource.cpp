// SPDX-License-Identifier: Apache-2.0
#include "frontend/TokenSource.h"
#include "WritableToken.h"
#include "frontend/Parse.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace antlr4;
using foretrace::grammar::ForeLexer;

namespace foretrace {

static constexpr unsigned MaxPending = 1024;

std::string ByteStream::getText(const misc::Interval &I) {
  return Text.substr(I.a, I.b + 1 - I.a).str();
}

SourceRange getRange(const Token &T, SourceText Text) {
  const size_t Size = Text.str().size();
  size_t Begin = std::min(T.getStartIndex(), Size);
  size_t End = std::min(std::max(T.getStopIndex() + 1, Begin), Size);
  return Text.range(Begin, End);
}

TokenSource::TokenSource(ByteStream &Stream, SourceText Text,
                         DiagnosticEngine &Diags)
    : ForeLexer(&Stream), Stream(Stream), Text(Text), Diags(Diags) {
  removeErrorListeners();
}

/// Returns whether a `%` between a number and \p Rest is a unit: no operand
/// follows it on its line. A `-` before a blank is an operator.
static bool isPercentSign(llvm::StringRef Rest) {
  static constexpr llvm::StringLiteral Words[] = {
      "and", "or", "then", "else", "where", "minimize", "maximize", "keep"};
  Rest = Rest.ltrim(" \t");
  const llvm::StringRef Word = Rest.take_while(llvm::isAlpha);
  return Rest.empty() || llvm::is_contained(Words, Word) ||
         Rest.starts_with("- ") ||
         llvm::StringRef("\r\n,)]}=!<>+*/").contains(Rest.front());
}

std::unique_ptr<Token> TokenSource::nextToken() {
  for (;;) {
    std::unique_ptr<Token> T = ForeLexer::nextToken();
    if (!isUsable(*T))
      continue;
    if (T->getType() == PERCENT && Before == NUMBER &&
        isPercentSign(Text.str().substr(T->getStopIndex() + 1)))
      static_cast<WritableToken &>(*T).setType(RATE);
    Before = T->getType();
    checkDepth(*T);
    return T;
  }
}

/// `#` and `/*`, whatever the comment says.
static void reportComment(SourceText Seen, DiagnosticEngine &Diags) {
  bool IsLine = Seen.str().starts_with("#");
  llvm::StringRef Mark = Seen.str().take_front(IsLine ? 1 : 2);
  const SourceRange Range = Seen.rangeOf(Mark);
  DiagnosticBuilder B = Diags.report(Range, diag::ForeignComment, Mark);
  if (IsLine)
    B.fix(Range, "//");
}

static void reportString(SourceText Seen, DiagnosticEngine &Diags) {
  llvm::StringRef Inside = Seen.str().drop_front().drop_back();
  DiagnosticBuilder B = Diags.report(Seen.range(), diag::ForeignString);
  if (!Inside.contains('"') && !Inside.contains('\\'))
    B.fix(Seen.range(), "\"" + Inside + "\"");
}

/// Returns whether a `:` before \p Rest names a base, as in `model a : b {`.
static bool isBase(llvm::StringRef Rest) {
  static constexpr char Blanks[] = " \t\r\n";
  llvm::StringRef Name = Rest.ltrim(Blanks);
  llvm::StringRef After =
      Name.drop_while([](char C) { return llvm::isAlnum(C) || C == '_'; });
  return After.size() != Name.size() && After.ltrim(Blanks).starts_with("{");
}

/// `**` and `^`, with the number meant if it is one of two whole numbers.
static void reportPower(SourceText Seen, SourceText Text,
                        DiagnosticEngine &Diags) {
  DiagnosticBuilder B =
      Diags.report(Seen.range(), diag::ForeignPower, Seen.str());
  const auto [Begin, End] = std::pair(Seen.str().begin(), Seen.str().end());
  const llvm::StringRef All = Text.str();
  const llvm::StringRef Before =
      All.take_front(static_cast<size_t>(Begin - All.begin())).rtrim();
  const llvm::StringRef After =
      All.drop_front(static_cast<size_t>(End - All.begin())).ltrim();
  auto IsOfWord = [](char C) {
    return llvm::isAlnum(C) || C == '.' || C == '_';
  };
  size_t Start = Before.size();
  while (Start > 0 && IsOfWord(Before[Start - 1]))
    --Start;
  const llvm::StringRef Base = Before.substr(Start);
  const llvm::StringRef Power = After.take_while(IsOfWord);
  int64_t Factor, Result = 1;
  unsigned Times;
  if (Base.getAsInteger(10, Factor) || Power.getAsInteger(10, Times) ||
      Times > 63)
    return;
  for (; Times != 0; --Times)
    if (llvm::MulOverflow(Result, Factor, Result))
      return;
  const SourceRange Whole =
      Text.range(static_cast<size_t>(Base.begin() - All.begin()),
                 static_cast<size_t>(Power.end() - All.begin()));
  B.note(Whole, diag::DidYouMean, Result).fix(Whole, llvm::Twine(Result));
}

static void reportCharacter(SourceText Source, DiagnosticEngine &Diags) {
  const SourceRange Range = Source.range();
  llvm::StringRef Seen = Source.str();
  if (Seen == ";") {
    Diags.report(Range, diag::NoSeparator, ";").fix(Range, "");
    return;
  }
  bool Printable = llvm::all_of(
      Seen, [](unsigned char C) { return C >= 0x20 && C != 0x7f; });
  Diags.report(
      Range, diag::BadCharacter,
      Printable ? "`" + Seen.str() + "`"
                : llvm::formatv("byte {0:x2}", unsigned(Seen.bytes_begin()[0]))
                      .str());
}

/// Reports a token that no rule of the grammar takes. A foreign string or `=`
/// is replaced by ours, so that the parser sees what was meant.
bool TokenSource::isUsable(Token &T) {
  const SourceRange Range = getRange(T, Text);
  const SourceText Seen = Text.part(Text.slice(Range));
  size_t Meant = Token::INVALID_TYPE;
  switch (T.getType()) {
  case BAD_CHARACTER:
    reportCharacter(Seen, Diags);
    break;
  case FOREIGN_COMMENT:
    reportComment(Seen, Diags);
    break;
  case FOREIGN_STRING:
    reportString(Seen, Diags);
    Meant = STRING;
    break;
  case FOREIGN_POWER:
    reportPower(Seen, Text, Diags);
    Meant = STAR;
    break;
  case OPEN_STRING:
    Diags.report(Range, diag::UnterminatedString);
    Meant = STRING;
    break;
  case COLON:
    if (isBase(Text.str().substr(T.getStopIndex() + 1)))
      return true;
    Diags.report(Range, diag::ExpectedToken, "`=`", "`:`").fix(Range, " =");
    Meant = ASSIGN;
    break;
  default:
    return true;
  }
  if (++NumErrors == MaxSyntaxErrors)
    stop();
  if (Meant == Token::INVALID_TYPE)
    return false;
  static_cast<WritableToken &>(T).setType(Meant);
  return true;
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
