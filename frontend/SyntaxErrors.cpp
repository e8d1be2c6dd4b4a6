// SPDX-License-Identifier: Apache-2.0
#include "frontend/TokenSource.h"
#include "frontend/UnknownUnit.h"
#include "lang/diagnostics/Frontend.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace antlr4;
using namespace llvm;
using foretrace::grammar::ForeParser;

namespace foretrace {

namespace {

/// One error, and the questions that decide how to put it.
class SyntaxError {
public:
  SyntaxError(ForeParser &Parser, Token &Found, SourceText Text,
              DiagnosticEngine &Diags)
      : Parser(Parser), Found(Found), Expected(Parser.getExpectedTokens()),
        Text(Text), Diags(Diags) {}

  /// \p Start is where the words began that fit no rule, or null.
  void report(Token *Start);

private:
  bool reportMissingValue();
  bool reportUnclosed();
  bool reportUnit(Token &Word);
  void reportAfterWord(Token &Word);
  bool reportInSection();
  bool reportForeignMark();

  bool expects(size_t Type) const {
    return Expected.contains(static_cast<ssize_t>(Type));
  }
  bool isInCondition() const;
  Token *before(const Token &T) const {
    size_t Index = T.getTokenIndex();
    return Index == 0 ? nullptr : Parser.getTokenStream()->get(Index - 1);
  }
  Token *findOpenBracket() const;
  std::string nameBracket(Token &Open) const;
  std::string describeExpected() const;
  std::string describeFound() const;
  StringRef textOf(const Token &T) const {
    return Text.str().slice(T.getStartIndex(), T.getStopIndex() + 1);
  }

  ForeParser &Parser;
  Token &Found;
  misc::IntervalSet Expected;
  SourceText Text;
  DiagnosticEngine &Diags;
};

} // namespace

static bool isOpening(size_t Type) {
  return Type == ForeParser::LBRACE || Type == ForeParser::LPAREN ||
         Type == ForeParser::LBRACKET;
}

static bool isClosing(size_t Type) {
  return Type == ForeParser::RBRACE || Type == ForeParser::RPAREN ||
         Type == ForeParser::RBRACKET;
}

static bool isLiteral(size_t Type) {
  return Type == ForeParser::NUMBER || Type == ForeParser::QUANTITY ||
         Type == ForeParser::STRING || Type == ForeParser::TRUE ||
         Type == ForeParser::FALSE || Type == ForeParser::LBRACKET;
}

/// Tokens that may follow any value; to list them would bury the rest.
static bool continuesValue(size_t Type) {
  return (Type >= ForeParser::DOT && Type <= ForeParser::RATE) ||
         Type == ForeParser::AND || Type == ForeParser::OR ||
         Type == ForeParser::LPAREN;
}

/// Words that are names wherever a name is expected.
static bool isAlsoName(size_t Type) {
  return Type >= ForeParser::WHERE && Type <= ForeParser::AT;
}

/// Returns whether `require` or `if`, but no `=`, is before the error.
bool SyntaxError::isInCondition() const {
  for (Token *T = before(Found); T && T->getLine() == Found.getLine();
       T = before(*T)) {
    size_t Type = T->getType();
    if (Type == ForeParser::REQUIRE || Type == ForeParser::IF)
      return true;
    if (Type == ForeParser::ASSIGN || Type == ForeParser::LBRACE)
      return false;
  }
  return false;
}

/// The innermost bracket that is open where the error is.
Token *SyntaxError::findOpenBracket() const {
  size_t Depth = 0;
  for (Token *T = before(Found); T; T = before(*T)) {
    if (isClosing(T->getType()))
      ++Depth;
    else if (isOpening(T->getType()) && Depth-- == 0)
      return T;
  }
  return nullptr;
}

std::string SyntaxError::nameBracket(Token &Open) const {
  for (tree::ParseTree *C = Parser.getContext(); C; C = C->parent) {
    auto *Block = dynamic_cast<ForeParser::BlockContext *>(C);
    if (!Block || Block->start != &Open)
      continue;
    if (auto *Section =
            dynamic_cast<ForeParser::SectionContext *>(Block->parent))
      return textOf(*Section->start).str();
  }
  return textOf(Open).str();
}

std::string SyntaxError::describeFound() const {
  if (Found.getType() == Token::EOF)
    return "the end of the file";
  StringRef Seen = textOf(Found);
  return Seen.size() <= 40 ? ("`" + Seen + "`").str() : "a long string";
}

std::string SyntaxError::describeExpected() const {
  if (expects(ForeParser::NUMBER))
    return expects(ForeParser::RBRACKET) ? "a value or `]`" : "a value";
  if (expects(ForeParser::ID) && expects(ForeParser::LET))
    return expects(ForeParser::RBRACE) ? "a key, a section or `}`"
           : expects(ForeParser::THEN)
               ? "a name"
               : "a section, `param`, `let`, `require` or `import`";
  std::vector<std::string> Choices;
  for (ssize_t Type : Expected.toList())
    if (Type == ForeParser::ID)
      Choices.push_back("a name");
    else if (Type == ForeParser::STRING)
      Choices.push_back("a string");
    else if (Type == static_cast<ssize_t>(Token::EOF))
      Choices.push_back("the end");
    else if (!continuesValue(Type) && !isAlsoName(Type))
      Choices.push_back("`" +
                        StringRef(Parser.getVocabulary().getLiteralName(Type))
                            .trim('\'')
                            .str() +
                        "`");
  return join(Choices, " or ");
}

/// `a =` and then the next entry.
bool SyntaxError::reportMissingValue() {
  Token *Key = before(Found);
  Token *Before = Key ? before(*Key) : nullptr;
  if (Found.getType() != ForeParser::ASSIGN || !Before ||
      Before->getType() != ForeParser::ASSIGN ||
      Before->getLine() == Key->getLine())
    return false;
  Diags.report(getRange(*Key, Text), diag::ExpectedToken, "a value",
               ("the key `" + textOf(*Key) + "`").str());
  return true;
}

bool SyntaxError::reportUnclosed() {
  Token *Open = findOpenBracket();
  if (!Open || (Open->getType() == ForeParser::LBRACE &&
                Found.getType() != Token::EOF && !isClosing(Found.getType())))
    return false;
  // The brackets pair up in the order of their token types.
  size_t Closing = Open->getType() + 1;
  if (Found.getType() == Closing || !expects(Closing))
    return false;
  Diags
      .report(getRange(Found, Text), diag::ExpectedToken,
              formatv("`{0}` to close `{1}`",
                      StringRef(Parser.getVocabulary().getLiteralName(Closing))
                          .trim('\''),
                      nameBracket(*Open))
                  .str(),
              describeFound())
      .note(getRange(*Open, Text), diag::OpenedHere, nameBracket(*Open));
  return true;
}

/// A word after a number that was meant as its unit, unless a value follows.
bool SyntaxError::reportUnit(Token &Word) {
  Token *Previous = before(Word);
  if (!Previous || Previous->getType() != ForeParser::NUMBER ||
      Previous->getLine() != Word.getLine() || isLiteral(Found.getType()))
    return false;
  // `Gb/s` is not one token, since it is not a unit.
  const StringRef Rest = Text.str().substr(Word.getStartIndex());
  const StringRef Written =
      Rest.take_while([](char C) { return isAlnum(C) || C == '/'; });
  SourceRange Range = getRange(Word, Text);
  Range.End = Range.Begin + static_cast<uint32_t>(Written.size());
  reportUnknownUnit(Range, Written, Diags);
  return true;
}

/// A word that begins neither an assignment nor a section, as the token after
/// it shows.
void SyntaxError::reportAfterWord(Token &Word) {
  SourceRange Here = getRange(Found, Text);
  DiagnosticBuilder Report = Diags.report(
      Here, diag::ExpectedToken,
      ("`=` or `{` after `" + textOf(Word) + "`").str(), describeFound());
  if (Found.getType() == ForeParser::NUMBER ||
      Found.getType() == ForeParser::QUANTITY)
    Report.fix(Here.atStart(), "= ");
}

/// Reports a section with an error in its head; often it is no section.
bool SyntaxError::reportInSection() {
  tree::ParseTree *Context = Parser.getContext();
  auto *Block = dynamic_cast<ForeParser::BlockContext *>(Context);
  if (Block && Block->start == &Found)
    Context = Block->parent;
  auto *Section = dynamic_cast<ForeParser::SectionContext *>(Context);
  if (!Section)
    return false;
  Token &Word = *Section->start;
  if (reportUnit(Word))
    return true;
  if (before(Found) != &Word)
    return false;
  if (dynamic_cast<ForeParser::EntryContext *>(Section->parent))
    reportAfterWord(Word);
  else if (Found.getType() == ForeParser::ASSIGN)
    Diags.report(getRange(Word, Text), diag::KeyOutsideSection, textOf(Word));
  else
    return false;
  return true;
}

/// Marks that other languages would have here.
bool SyntaxError::reportForeignMark() {
  SourceRange Here = getRange(Found, Text);
  if (Found.getType() == ForeParser::COMMA && expects(ForeParser::LET)) {
    Diags.report(Here, diag::NoSeparator, ",").fix(Here, "");
    return true;
  }
  if (Found.getType() == ForeParser::ASSIGN && isInCondition()) {
    Diags.report(Here, diag::ExpectedToken, "`==`", "`=`").fix(Here, "==");
    return true;
  }
  return false;
}

void SyntaxError::report(Token *Start) {
  if (Start && Start != &Found && expects(ForeParser::LET)) {
    if (!reportUnit(*Start))
      reportAfterWord(*Start);
    return;
  }
  if (reportInSection() || reportMissingValue() || reportUnclosed() ||
      reportForeignMark())
    return;
  Diags.report(getRange(Found, Text), diag::ExpectedToken, describeExpected(),
               describeFound());
}

void SyntaxErrors::syntaxError(Recognizer *Parser, Token *Found, size_t, size_t,
                               const std::string &, std::exception_ptr Cause) {
  if (NumErrors == MaxSyntaxErrors)
    return;
  if (++NumErrors == MaxSyntaxErrors)
    Source.stop();
  Token *Start = nullptr;
  try {
    if (Cause)
      std::rethrow_exception(Cause);
  } catch (const NoViableAltException &E) {
    Start = E.getStartToken();
  } catch (const RecognitionException &) {
  }
  SyntaxError(static_cast<ForeParser &>(*Parser), *Found, Text, Diags)
      .report(Start);
}

} // namespace foretrace
