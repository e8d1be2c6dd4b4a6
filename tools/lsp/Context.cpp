// SPDX-License-Identifier: Apache-2.0
#include "tools/lsp/Context.h"
#include "tools/lsp/Lexer.h"
#include <vector>

using namespace llvm;

namespace foretrace::lsp {

namespace {

/// Follows the words and braces of a text.
class Scanner {
public:
  Scanner(StringRef Text, function_ref<bool(StringRef)> IsSection)
      : Text(Text), IsSection(IsSection) {}

  Context run(size_t Byte);

private:
  void sign(char C);
  /// The keyword of the section whose brace is next.
  std::string keyword() const;

  StringRef Text;
  function_ref<bool(StringRef)> IsSection;
  std::vector<std::string> Open;
  std::vector<StringRef> Words; ///< since the last brace; signs, too
};

} // namespace

/// `keyword label : base`, of which only the keyword must be there.
std::string Scanner::keyword() const {
  for (size_t Back = 1; Back <= std::min<size_t>(Words.size(), 4); ++Back)
    if (const StringRef Word = Words[Words.size() - Back]; IsSection(Word))
      return Word.str();
  return Words.empty() ? "" : Words.back().str();
}

void Scanner::sign(char C) {
  if (C == '{') {
    Open.push_back(keyword());
    Words.clear();
  } else if (C == '}') {
    if (!Open.empty())
      Open.pop_back();
    Words.clear();
  }
}

Context Scanner::run(size_t Byte) {
  Context Found;
  for (const LooseToken &T : tokensOf(Text)) {
    const bool IsWord =
        T.Is == LooseToken::Kind::Word || T.Is == LooseToken::Kind::Number;
    if (T.Begin > Byte || (T.Begin == Byte && !IsWord))
      break;
    if (T.Is == LooseToken::Kind::Comment) {
      Found.IsInComment = Byte <= T.End;
    } else if (T.Is == LooseToken::Kind::String) {
      if (Byte > T.End - (T.IsClosed ? 1 : 0))
        continue;
      Found.IsInText = true;
      Found.IsInImport = !Words.empty() && Words.back() == "import";
      Found.Word = Text.slice(T.Begin + 1, Byte);
      break;
    } else if (IsWord && Byte <= T.End) {
      Found.Word = T.in(Text);
      break;
    } else if (T.in(Text) == "{" || T.in(Text) == "}") {
      sign(Text[T.Begin]);
    } else {
      Words.push_back(T.in(Text));
    }
  }
  Found.Section = Open.empty() ? "" : Open.back();
  if (Words.size() > 1 && Words.back() == "=")
    Found.Key = Words[Words.size() - 2].str();
  return Found;
}

Context contextAt(StringRef Text, size_t Byte,
                  function_ref<bool(StringRef)> IsSection) {
  return Scanner(Text, IsSection).run(std::min(Byte, Text.size()));
}

} // namespace foretrace::lsp
