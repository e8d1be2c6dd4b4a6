// SPDX-License-Identifier: Apache-2.0
#include "frontend/Parse.h"
#include "frontend/BuildAST.h"
#include "frontend/Format.h"
#include "frontend/TokenSource.h"
#include "lang/SourceFiles.h"
#include "lang/diagnostics/Frontend.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FormatVariadic.h"

using namespace antlr4;
using foretrace::grammar::ForeParser;

namespace foretrace {

/// A parse takes some hundred bytes of memory for each byte of text.
static constexpr size_t MaxFileSize = 1 << 20;

bool checkText(SourceText Source, DiagnosticEngine &Diags) {
  const llvm::StringRef Text = Source.str();
  if (Text.size() > MaxFileSize) {
    Diags.report(Source.range(0, 1), diag::FileTooLarge, Text.size(),
                 MaxFileSize);
    return false;
  }
  if (size_t Nul = Text.find('\0'); Nul != llvm::StringRef::npos) {
    Diags.report(Source.range(Nul, Nul + 1), diag::NulByte, Nul);
    return false;
  }
  const llvm::UTF8 *At = Text.bytes_begin();
  if (!llvm::isLegalUTF8String(&At, Text.bytes_end())) {
    size_t Offset = At - Text.bytes_begin();
    Diags.report(Source.range(Offset, Offset + 1), diag::InvalidUtf8,
                 llvm::formatv("{0:x2}", unsigned(*At)).str(), Offset);
    return false;
  }
  return true;
}

/// Everything ANTLR needs for one text, and its two attempts: fast without
/// recovery, then, if that failed, again to find all errors.
namespace {
class Parse {
public:
  Parse(SourceText Text, DiagnosticEngine &Diags)
      : Text(Text), Diags(Diags), Stream(Text.str()),
        Source(Stream, Text, Diags), Tokens(&Source), Parser(&Tokens) {
    Parser.removeErrorListeners();
  }

  /// The tree of \p Rule, or null after errors.
  template <typename TreeT> TreeT *run(TreeT *(ForeParser::*Rule)()) {
    TreeT *Tree = tryFast(Rule);
    if (!Tree && !Source.stopped())
      Tree = findErrors(Rule);
    return Source.failed() ? nullptr : Tree;
  }

private:
  template <typename TreeT> TreeT *tryFast(TreeT *(ForeParser::*Rule)()) {
    Parser.setErrorHandler(std::make_shared<BailErrorStrategy>());
    Parser.getInterpreter<atn::ParserATNSimulator>()->setPredictionMode(
        atn::PredictionMode::SLL);
    try {
      return (Parser.*Rule)();
    } catch (const ParseCancellationException &) {
      return nullptr;
    }
  }

  template <typename TreeT> TreeT *findErrors(TreeT *(ForeParser::*Rule)()) {
    SyntaxErrors Errors(Text, Source, Diags);
    Tokens.seek(0);
    Parser.reset();
    Parser.addErrorListener(&Errors);
    Parser.setErrorHandler(std::make_shared<DefaultErrorStrategy>());
    Parser.getInterpreter<atn::ParserATNSimulator>()->setPredictionMode(
        atn::PredictionMode::LL);
    TreeT *Tree = (Parser.*Rule)();
    Parser.removeErrorListeners();
    return Parser.getNumberOfSyntaxErrors() == 0 ? Tree : nullptr;
  }

  SourceText Text;
  DiagnosticEngine &Diags;
  ByteStream Stream;
  TokenSource Source;
  CommonTokenStream Tokens;
  ForeParser Parser;
};
} // namespace

/// Returns what \p Build makes of the tree of \p Rule; nothing after errors.
template <typename TreeT, typename BuildT>
static auto parse(SourceText Text, DiagnosticEngine &Diags,
                  TreeT *(ForeParser::*Rule)(), BuildT Build)
    -> std::optional<decltype(Build(std::declval<TreeT &>(), Text, Diags))> {
  if (!checkText(Text, Diags))
    return std::nullopt;
  Parse P(Text, Diags);
  TreeT *Tree = P.run(Rule);
  if (!Tree)
    return std::nullopt;
  const unsigned ErrorsBefore = Diags.errorCount();
  auto Built = Build(*Tree, Text, Diags);
  if (Diags.errorCount() != ErrorsBefore)
    return std::nullopt;
  return Built;
}

std::optional<ast::File> parseFore(SourceText Text, DiagnosticEngine &Diags) {
  return parse(Text, Diags, &ForeParser::file, buildFile);
}

std::optional<std::string> formatFore(SourceText Text,
                                      DiagnosticEngine &Diags) {
  return parse(Text, Diags, &ForeParser::file, formatFile);
}

/// Returns the result of \p Make for a text, without reports.
template <typename MakeT> static auto ofText(llvm::StringRef Text, MakeT Make) {
  DiagnosticEngine Unheard;
  SourceFiles Sources;
  return Make(Sources.text(Sources.add(Text, "text")), Unheard);
}

std::optional<ast::File> parseText(llvm::StringRef Text) {
  return ofText(Text, parseFore);
}

std::optional<std::string> formatText(llvm::StringRef Text) {
  return ofText(Text, formatFore);
}

bool isReserved(llvm::StringRef Word) {
  static const llvm::StringSet<> Words = [] {
    ByteStream Nothing("");
    const grammar::ForeLexer Lexer(&Nothing);
    llvm::StringSet<> All; // `name` of the grammar has all that follow them
    for (size_t Type = ForeParser::IMPORT; Type <= ForeParser::FALSE; ++Type)
      All.insert(llvm::StringRef(Lexer.getVocabulary().getLiteralName(Type))
                     .trim('\''));
    return All;
  }();
  return Words.contains(Word);
}

ast::ExprPtr parseExpression(SourceText Text, DiagnosticEngine &Diags) {
  return parse(Text, Diags, &ForeParser::expression, buildExpression)
      .value_or(nullptr);
}

std::optional<std::vector<ast::Axis::Element>>
parseElements(SourceText Text, DiagnosticEngine &Diags) {
  return parse(Text, Diags, &ForeParser::givenElements, buildElements);
}

} // namespace foretrace
