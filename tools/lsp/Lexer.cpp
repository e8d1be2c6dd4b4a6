// SPDX-License-Identifier: Apache-2.0
#include "tools/lsp/Lexer.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::lsp {

static bool isWordChar(char C) { return isAlnum(C) || C == '_'; }

/// Returns the token that begins at \p At, which is not a blank.
static LooseToken tokenAt(StringRef Text, size_t At) {
  const char C = Text[At];
  if (Text.substr(At).starts_with("//"))
    return {LooseToken::Kind::Comment, At,
            std::min(Text.find('\n', At), Text.size())};
  if (C == '"') {
    size_t End = At + 1;
    while (End < Text.size() && Text[End] != '"' && Text[End] != '\n')
      End += Text[End] == '\\' ? 2 : 1;
    End = std::min(End, Text.size());
    const bool IsClosed = End < Text.size() && Text[End] == '"';
    return {LooseToken::Kind::String, At, End + IsClosed, IsClosed};
  }
  if (!isWordChar(C))
    return {LooseToken::Kind::Sign, At, At + 1};
  const bool IsNumber = isDigit(C);
  size_t End = At;
  while (End < Text.size() &&
         (isWordChar(Text[End]) ||
          (IsNumber && Text[End] == '.' && End + 1 < Text.size() &&
           isDigit(Text[End + 1]))))
    ++End;
  return {IsNumber ? LooseToken::Kind::Number : LooseToken::Kind::Word, At,
          End};
}

std::vector<LooseToken> tokensOf(StringRef Text) {
  std::vector<LooseToken> All;
  for (size_t At = 0; At < Text.size();) {
    if (isSpace(Text[At])) {
      ++At;
      continue;
    }
    All.push_back(tokenAt(Text, At));
    At = All.back().End;
  }
  return All;
}

} // namespace foretrace::lsp
