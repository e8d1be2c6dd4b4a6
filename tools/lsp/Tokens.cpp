// SPDX-License-Identifier: Apache-2.0
//
// Colours and folds of a text.
#include "frontend/Parse.h"
#include "tools/lsp/Lexer.h"
#include "tools/lsp/Positions.h"
#include "tools/lsp/Server.h"

using namespace llvm;

namespace foretrace::lsp {

namespace {

/// Indices into the legend.
enum class TokenType : unsigned char {
  Comment,
  String,
  Number,
  Keyword,
  Property,
  Variable,
  Class,
  Struct,
  Function,
  Namespace,
  EnumMember,
};

constexpr StringLiteral TypeNames[] = {
    "comment", "string", "number",   "keyword",   "property",  "variable",
    "class",   "struct", "function", "namespace", "enumMember"};

} // namespace

json::Object Server::tokenLegend() {
  json::Array Types;
  for (const StringRef Name : TypeNames)
    Types.push_back(Name);
  return Object{{"tokenTypes", std::move(Types)},
                {"tokenModifiers", json::Array{"declaration"}}};
}

static TokenType typeOf(NameKind Is) {
  switch (Is) {
  case NameKind::Param:
  case NameKind::Let:
    return TokenType::Variable;
  case NameKind::Model:
  case NameKind::Layer:
    return TokenType::Class;
  case NameKind::Block:
    return TokenType::Struct;
  case NameKind::Table:
    return TokenType::Namespace;
  }
  llvm_unreachable("every kind is handled");
}

/// The token after \p I that is no comment; a blank at the end.
static StringRef next(StringRef Text, ArrayRef<LooseToken> All, size_t I) {
  while (++I < All.size())
    if (All[I].Is != LooseToken::Kind::Comment)
      return All[I].in(Text);
  return " ";
}

/// Each token is five numbers: lines and columns from the one before, length,
/// type, and whether it is a definition.
json::Value Server::tokens(const Document &D) {
  const std::string Path = pathOf(D.Uri);
  const Names Of = namesOf(D);
  const std::vector<LooseToken> All = tokensOf(D.Text);
  const StringRef Text = D.Text;
  auto TypeOf = [&](size_t I, bool &IsDefinition) {
    const LooseToken &T = All[I];
    switch (T.Is) {
    case LooseToken::Kind::Comment:
      return TokenType::Comment;
    case LooseToken::Kind::String:
      return TokenType::String;
    case LooseToken::Kind::Number:
    case LooseToken::Kind::Sign:
      return TokenType::Number;
    case LooseToken::Kind::Word:
      break;
    }
    const StringRef Word = T.in(Text), Next = next(Text, All, I);
    if (const NamePlace *Place = Of.at(Path, T.Begin))
      if (const auto Definition = Of.definitionOf(Path, *Place)) {
        IsDefinition = Place->IsDefinition;
        return typeOf(Of.placeOf(*Definition).Is);
      }
    if (Next == "=" && All[I + 1].End < Text.size() &&
        Text[All[I + 1].End] != '=')
      return TokenType::Property;
    const StringRef Before = I == 0 ? "" : All[I - 1].in(Text);
    if (isReserved(Word) || (isSection(Word) && Before != "="))
      return TokenType::Keyword;
    if (I > 0 && All[I - 1].Is == LooseToken::Kind::Number &&
        All[I - 1].Begin < T.Begin && Next != "=")
      return TokenType::Number; // its unit
    return Next == "(" ? TokenType::Function : TokenType::EnumMember;
  };
  json::Array Data;
  int64_t LineBefore = 0, ColumnBefore = 0, Line = 0;
  size_t Start = 0; // of the line
  for (size_t I = 0; I < All.size(); ++I) {
    const LooseToken &T = All[I];
    for (size_t End = Text.find('\n', Start); End < T.Begin;
         End = Text.find('\n', Start)) {
      Start = End + 1;
      ++Line;
    }
    if (T.Is == LooseToken::Kind::Sign)
      continue;
    bool IsDefinition = false;
    const TokenType Type = TypeOf(I, IsDefinition);
    const int64_t Column = unitsOf(Text.slice(Start, T.Begin));
    Data.push_back(Line - LineBefore);
    Data.push_back(Line == LineBefore ? Column - ColumnBefore : Column);
    Data.push_back(unitsOf(T.in(Text)));
    Data.push_back(static_cast<int64_t>(Type));
    Data.push_back(int64_t(IsDefinition));
    LineBefore = Line;
    ColumnBefore = Column;
  }
  return Object{{"data", std::move(Data)}};
}

/// Sections, and comments of several lines.
json::Value Server::folds(const Document &D) {
  const StringRef Text = D.Text;
  json::Array All;
  auto Add = [&](int64_t First, int64_t Last, StringRef Kind) {
    if (Last <= First)
      return;
    Object Fold{{"startLine", First}, {"endLine", Last}};
    if (!Kind.empty())
      Fold["kind"] = Kind.str();
    All.push_back(std::move(Fold));
  };
  std::vector<int64_t> Open;
  int64_t Line = 0, FirstComment = -1, LastComment = -1;
  size_t At = 0;
  for (const LooseToken &T : tokensOf(Text)) {
    Line += static_cast<int64_t>(Text.slice(At, T.Begin).count('\n'));
    At = T.Begin;
    if (T.Is == LooseToken::Kind::Comment && FirstComment >= 0 &&
        Line == LastComment + 1) {
      LastComment = Line;
      continue;
    }
    Add(FirstComment, LastComment, "comment");
    FirstComment = LastComment = T.Is == LooseToken::Kind::Comment ? Line : -1;
    if (T.in(Text) == "{") {
      Open.push_back(Line);
    } else if (T.in(Text) == "}" && !Open.empty()) {
      Add(Open.back(), Line - 1, ""); // the brace stays
      Open.pop_back();
    }
  }
  Add(FirstComment, LastComment, "comment");
  return All;
}

} // namespace foretrace::lsp
