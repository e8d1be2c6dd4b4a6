// SPDX-License-Identifier: Apache-2.0
#include "tools/lsp/Context.h"
#include "llvm/ADT/StringExtras.h"
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

static bool isWordChar(char C) { return isAlnum(C) || C == '_'; }

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
  size_t At = 0;
  while (At < Byte) {
    const char C = Text[At];
    if (C == '/' && Text.substr(At).starts_with("//")) {
      At = std::min(Text.find('\n', At), Text.size());
      if (At >= Byte) {
        Found.IsInComment = true;
        break;
      }
    } else if (C == '"') {
      size_t End = At + 1;
      while (End < Text.size() && Text[End] != '"' && Text[End] != '\n')
        End += Text[End] == '\\' ? 2 : 1;
      if (End >= Byte) {
        Found.IsInText = true;
        Found.IsInImport = !Words.empty() && Words.back() == "import";
        Found.Word = Text.slice(At + 1, Byte);
        break;
      }
      At = End + 1;
    } else if (isWordChar(C)) {
      const size_t End =
          std::min(Text.find_if_not(isWordChar, At), Text.size());
      if (End >= Byte) {
        Found.Word = Text.slice(At, End);
        break;
      }
      Words.push_back(Text.slice(At, End));
      At = End;
    } else {
      if (C == '{' || C == '}')
        sign(C);
      else if (!isSpace(C))
        Words.push_back(Text.slice(At, At + 1));
      ++At;
    }
  }
  if (Found.Word.empty() && !Found.IsInText && Byte < Text.size() &&
      isWordChar(Text[Byte])) // at the start of a word
    Found.Word = Text.substr(Byte).take_while(isWordChar);
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
