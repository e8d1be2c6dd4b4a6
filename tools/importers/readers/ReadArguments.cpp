// SPDX-License-Identifier: Apache-2.0
#include "tools/importers/readers/ReadArguments.h"
#include "tools/importers/readers/ReadPython.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace foretrace::importers {

static ForeignValue listOf(ArrayRef<int64_t> Integers, SourceRange Range) {
  std::vector<ForeignValue> Elements;
  for (int64_t I : Integers)
    Elements.push_back(ForeignValue::of(I, Range));
  return ForeignValue::of(std::move(Elements), Range);
}

/// Returns the integers of `127,0`; nothing if it is another text.
static std::optional<std::vector<int64_t>> integersOf(StringRef Word) {
  std::vector<int64_t> All;
  for (StringRef Part : split(Word.trim("()"), ',')) {
    int64_t Integer;
    if (Part.trim().getAsInteger(10, Integer))
      return std::nullopt;
    All.push_back(Integer);
  }
  return All;
}

/// Returns the integers of `[0]*3+[1]*58`; nothing if it is another text.
static std::optional<std::vector<int64_t>> listOfPython(StringRef Word) {
  const ForeignValue Read = readPythonExpression(Word);
  if (Read.Is != ForeignValue::Kind::List)
    return std::nullopt;
  std::vector<int64_t> All;
  for (const ForeignValue &E : *Read.Elements) {
    if (E.Is != ForeignValue::Kind::Integer)
      return std::nullopt;
    All.push_back(E.Integer);
  }
  return All;
}

/// Returns whether a shell would replace a part of it.
static bool hasVariable(StringRef Word) {
  for (size_t At = Word.find('$'); At != StringRef::npos;
       At = Word.find('$', At + 1)) {
    const StringRef Name = Word.drop_front(At + 1);
    if (!Name.empty() && (isAlpha(Name.front()) || Name.front() == '{' ||
                          Name.front() == '(' || Name.front() == '_'))
      return true;
  }
  return false;
}

size_t placeholderLength(StringRef Text) {
  const size_t End = Text.find('>');
  if (!Text.starts_with("<") || End == StringRef::npos)
    return 0;
  const StringRef Name = Text.slice(1, End), After = Text.drop_front(End + 1);
  const auto IsPlain = [](char C) {
    return isAlnum(C) || StringRef(" _-./:").contains(C);
  };
  // `<in >out` and `<in>out` are redirections.
  const bool Is = !Name.empty() && isAlpha(Name.front()) &&
                  isAlnum(Name.back()) && all_of(Name, IsPlain) &&
                  (After.empty() || !isAlnum(After.front()));
  return Is ? End + 1 : 0;
}

static bool hasPlaceholder(StringRef Word) {
  for (size_t At = Word.find('<'); At != StringRef::npos;
       At = Word.find('<', At + 1))
    if (placeholderLength(Word.drop_front(At)) != 0)
      return true;
  return false;
}

ForeignValue readArgument(StringRef Word, SourceRange Range) {
  if (hasVariable(Word) || hasPlaceholder(Word)) {
    ForeignValue Unknown;
    Unknown.Text = Word.str();
    Unknown.Range = Range;
    return Unknown;
  }
  if (Word == "None")
    return ForeignValue::null(Range);
  if (Word.contains('['))
    if (const auto All = listOfPython(Word))
      return listOf(*All, Range);
  if (Word.contains(','))
    if (const auto All = integersOf(Word))
      return listOf(*All, Range);
  return readScalar(Word, Range);
}

ForeignValue readArguments(ArrayRef<ArgumentWord> Words, SourceRange Flag) {
  if (Words.empty())
    return ForeignValue::of(true, Flag);
  if (Words.size() == 1)
    return readArgument(Words.front().Text, Words.front().Range);
  std::vector<ForeignValue> Elements;
  for (const ArgumentWord &W : Words)
    Elements.push_back(readArgument(W.Text, W.Range));
  return ForeignValue::of(std::move(Elements), Words.front().Range);
}

void setMember(std::vector<ForeignValue::Member> &Members, ast::Word Key,
               ForeignValue To) {
  const auto At = find_if(Members, [&](const ForeignValue::Member &M) {
    return M.Key.Text == Key.Text;
  });
  if (At == Members.end())
    Members.push_back({std::move(Key), std::move(To)});
  else
    *At = {std::move(Key), std::move(To)};
}

ForeignValue readFlags(ArrayRef<ArgumentWord> Words, SourceRange Whole) {
  std::vector<ForeignValue::Member> Flags;
  StringMap<size_t> Places;
  for (size_t I = 0; I != Words.size();) {
    const ArgumentWord &Flag = Words[I++];
    if (!Flag.isFlag())
      continue;
    size_t End = I;
    while (End != Words.size() && !Words[End].isFlag() &&
           !Words[End].isShortOption())
      ++End;
    const auto [Name, Joined] = StringRef(Flag.Text).drop_front(2).split('=');
    const bool IsJoined = Name.size() + 2 != Flag.Text.size();
    std::string Key = Name.str();
    std::replace(Key.begin(), Key.end(), '-', '_');
    ForeignValue::Member Read{
        {Key, Flag.Range},
        IsJoined ? readArgument(Joined, Flag.Range)
                 : readArguments(Words.slice(I, End - I), Flag.Range)};
    const auto [Place, IsNew] = Places.try_emplace(Key, Flags.size());
    if (IsNew)
      Flags.push_back(std::move(Read));
    else
      Flags[Place->second] = std::move(Read);
    I = End;
  }
  return ForeignValue::of(std::move(Flags), Whole);
}

/// The end of the word at the start of \p Rest, and what it says.
static size_t takeWord(StringRef Rest, std::string &Word) {
  char Quote = 0;
  size_t I = 0;
  for (; I != Rest.size(); ++I) {
    const char C = Rest[I];
    if (Quote) {
      if (C == Quote)
        Quote = 0;
      else
        Word += C;
    } else if (C == '\'' || C == '"') {
      Quote = C;
    } else if (C == '\\' && I + 1 != Rest.size()) {
      if (Rest[++I] != '\n')
        Word += Rest[I];
    } else if (isSpace(C)) {
      break;
    } else {
      Word += C;
    }
  }
  return I;
}

std::vector<ArgumentWord> readWords(SourceText Text) {
  std::vector<ArgumentWord> Words;
  const StringRef All = Text.str();
  for (size_t I = 0; I < All.size();) {
    if (isSpace(All[I]) || All.substr(I).starts_with("\\\n")) {
      ++I;
      continue;
    }
    if (All[I] == '#') {
      I = All.find('\n', I);
      continue;
    }
    std::string Word;
    const size_t Length = takeWord(All.drop_front(I), Word);
    if (!Word.empty() || Length > 1)
      Words.push_back({Word, Text.rangeOf(All.substr(I, Length))});
    I += Length;
  }
  return Words;
}

} // namespace foretrace::importers
