// SPDX-License-Identifier: Apache-2.0
#include "tools/importers/shell/ShellWords.h"
#include "tools/importers/shell/ShellSyntax.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::importers::shell {

SourceRange Traced::range() const {
  if (At.empty())
    return {};
  const SourceRange First = At.front(), Last = At.back();
  if (First.File != Last.File || Last.End <= First.Begin ||
      Last.End - First.Begin > 2 * Text.size())
    return First;
  return {First.File, First.Begin, Last.End};
}

StringRef State::keep(Traced Script) {
  const Traced &Kept = Texts.emplace_back(std::move(Script));
  Places[Kept.Text.data()] = &Kept;
  return Kept.Text;
}

const Traced *State::textOf(const char *At) const {
  const auto After = Places.upper_bound(At);
  if (After == Places.begin())
    return nullptr;
  const Traced *Found = std::prev(After)->second;
  return At < Found->Text.data() + Found->Text.size() ? Found : nullptr;
}

SourceRange State::originOf(const char *At) const {
  const Traced *Text = textOf(At);
  return Text ? Text->At[At - Text->Text.data()] : SourceRange();
}

State::MissingWord *State::findMissing(StringRef Text) {
  unsigned Number;
  if (!Text.consume_front("${") || !Text.consume_back("}") ||
      Text.getAsInteger(10, Number))
    return nullptr;
  const auto Found = Missing.find(Number);
  return Found == Missing.end() ? nullptr : &Found->second;
}

void State::noteComparison(StringRef L, StringRef R) {
  constexpr size_t MostValues = 16;
  for (const auto &[Of, Value] : {std::pair(L, R), std::pair(R, L)})
    if (MissingWord *M = findMissing(Of); M && !Value.empty() &&
                                          M->Values.size() < MostValues &&
                                          !is_contained(M->Values, Value))
      M->Values.push_back(Value.str());
}

size_t copyEffort(ArrayRef<Traced> Words) {
  size_t Effort = 0;
  for (const Traced &W : Words)
    Effort += WordEffort + W.Text.size() / 2;
  return Effort;
}

void Expander::openWord() {
  if (!IsOpen)
    Made.emplace_back();
  IsOpen = true;
}

/// Adds to the word that is open.
void Expander::put(StringRef Text, SourceRange Where) {
  openWord();
  if (S.spend(CharacterEffort * Text.size()))
    Made.back().add(Text, Where);
}

/// Adds values of a variable: in quotes as one word, or one word each if they
/// \p AreApart, else split into words.
void Expander::insert(const std::vector<Traced> &Values, bool IsQuoted,
                      bool AreApart) {
  const auto Ifs = lookUp("IFS");
  const bool HasIfs = Ifs && !Ifs->empty() && !Ifs->front().Text.empty();
  const StringRef Separator =
      HasIfs ? StringRef(Ifs->front().Text).take_front() : " ";
  for (const Traced &V : Values) {
    if (!S.spend(WordEffort + CharacterEffort * V.Text.size()))
      return;
    if (&V != &Values.front()) {
      if (IsQuoted && !AreApart)
        put(Separator, V.At.empty() ? SourceRange() : V.At.front());
      else
        endWord();
    }
    if (IsQuoted)
      openWord();
    size_t Unknown = 0; // the end of a command whose output is not known
    for (size_t I = 0; I != V.Text.size(); ++I) {
      const StringRef Rest = StringRef(V.Text).drop_front(I);
      if (I >= Unknown && Rest.starts_with("$("))
        Unknown = I + 1 + bracketLength(Rest.drop_front(), '(', ')');
      if (!IsQuoted && I >= Unknown && isSpace(V.Text[I])) {
        endWord();
        continue;
      }
      openWord();
      Made.back().add(V.Text[I], V.At[I]);
    }
  }
}

/// Returns whether the variable at the start of \p Whole is the only value of a
/// flag, in the text that it is written in.
bool Expander::isValueOfFlag(StringRef Whole) {
  constexpr StringLiteral Blanks(" \t\\\n");
  const Traced *Text = S.textOf(Whole.data());
  if (!Text)
    return false;
  const StringRef All = Text->Text;
  const size_t At = Whole.data() - All.data();
  const StringRef Before = All.take_front(At).rtrim(Blanks);
  const StringRef Flag = Before.drop_front(Before.find_last_of(" \t\n") + 1);
  StringRef After = All.drop_front(At + 1);
  After =
      After.drop_front(std::min(After.size(), After.find_first_of(" \t\n)\"")));
  // A word may be long, and each of its variables comes here.
  S.spend(After.data() - Flag.data());
  return Flag.starts_with("--") && Flag.size() < Before.size() &&
         !Flag.contains('=') && After.ltrim(Blanks).starts_with("--");
}

/// Replaces an undefined variable by nothing, or by its own text.
void Expander::insertUndefined(StringRef Name, StringRef Whole) {
  if (!IsTest && (!S.Own.contains(Name) || isValueOfFlag(Whole)))
    put(("${" + Name + "}").str(), S.originOf(Whole.data()));
}

std::optional<ArrayRef<Traced>> Expander::lookUp(StringRef Name) const {
  size_t Number;
  if (!Name.getAsInteger(10, Number)) {
    if (Number == 0 || Number > S.Arguments.size())
      return std::nullopt;
    return ArrayRef(S.Arguments[Number - 1]);
  }
  if (Name == "@" || Name == "*")
    return ArrayRef(S.Arguments);
  const auto Found = S.Variables.find(Name);
  if (Found == S.Variables.end())
    return std::nullopt;
  return ArrayRef(Found->second.Elements);
}

std::vector<Traced> countOf(int64_t Number, SourceRange Where) {
  Traced Count;
  Count.add(std::to_string(Number), Where);
  return {Count};
}

/// The element of `M=([key]=value ...)` at \p Index, or all.
std::optional<std::vector<Traced>> Expander::member(ArrayRef<Traced> Of,
                                                    StringRef Index) {
  const std::string Key = "[" + text(Index).Text + "]=";
  std::vector<Traced> Found;
  for (const Traced &Element : Of) {
    const size_t Begin = areAll(Index) ? StringRef(Element.Text).find("]=") + 2
                         : StringRef(Element.Text).starts_with(Key)
                             ? Key.size()
                             : StringRef::npos;
    if (Begin > Element.Text.size())
      continue;
    Traced &Value = Found.emplace_back();
    for (size_t I = Begin; I != Element.Text.size(); ++I)
      Value.add(Element.Text[I], Element.At[I]);
  }
  return S.spend(copyEffort(Of)) ? Found : std::vector<Traced>();
}

/// Returns the values of `NAME` or `NAME[INDEX]`. An array without an index
/// means its first element.
std::optional<std::vector<Traced>>
Expander::select(StringRef Name, StringRef Index, StringRef Whole) {
  if (Name == "#")
    return countOf(static_cast<int64_t>(S.Arguments.size()),
                   S.originOf(Whole.data()));
  // An index may set variables, so it comes before them.
  std::optional<int64_t> At = 0;
  const std::optional<ArrayRef<Traced>> Named = lookUp(Name);
  if (Named && !Named->empty() &&
      StringRef(Named->front().Text).starts_with("[") && !Index.empty())
    return member(*Named, Index);
  if (!Index.empty() && !areAll(Index))
    At = arithmetic(Index);
  const std::optional<ArrayRef<Traced>> All = lookUp(Name);
  if (!All || !At)
    return std::nullopt;
  ArrayRef<Traced> Chosen;
  if (areAll(Index) || areAll(Name))
    Chosen = *All;
  else if (At && *At >= 0 && static_cast<uint64_t>(*At) < All->size())
    Chosen = All->slice(*At, 1);
  return S.spend(copyEffort(Chosen)) ? Chosen.vec() : std::vector<Traced>();
}

void Expander::substitution(StringRef Inside, StringRef Whole, bool IsQuoted) {
  if (const std::optional<Traced> Output = Run(Inside)) {
    insert({*Output}, IsQuoted, false);
    return;
  }
  put(("$(" + Inside + ")").str(), S.originOf(Whole.data()));
}

size_t Expander::dollar(StringRef Raw, bool IsQuoted) {
  const StringRef Rest = Raw.drop_front();
  if (Rest.starts_with("(") || Rest.starts_with("{")) {
    const char Open = Rest.front(), Close = Open == '(' ? ')' : '}';
    const size_t Length = bracketLength(Rest, Open, Close);
    StringRef Inside = Rest.slice(1, Length - 1);
    if (Open == '{')
      parameter(Inside, Raw, IsQuoted);
    else if (!Inside.consume_front("(") || !Inside.consume_back(")"))
      substitution(Rest.slice(1, Length - 1), Raw, IsQuoted);
    else if (const auto Value = arithmetic(Inside))
      insert(countOf(*Value, S.originOf(Raw.data())), IsQuoted, false);
    else
      put(Raw.take_front(1 + Length), S.originOf(Raw.data()));
    return 1 + Length;
  }
  StringRef Name =
      Rest.take_while([](char C) { return isAlnum(C) || C == '_'; });
  if (!Name.empty() && isDigit(Name.front()))
    Name = Name.take_front();
  else if (Name.empty() && !Rest.empty() && StringRef("@*#?").contains(Rest[0]))
    Name = Rest.take_front();
  if (Name.empty()) {
    put("$", S.originOf(Raw.data()));
    return 1;
  }
  parameter(Name, Raw, IsQuoted);
  return 1 + Name.size();
}

/// The text between `"` and `"`.
void Expander::quoted(StringRef Inside) {
  openWord();
  expand(Inside, true);
  // `"${A[@]}"` of an empty array and `"$@"` without arguments are no word.
  const bool IsOfAll =
      Inside.ends_with("[@]}") || Inside == "$@" || Inside == "${@}";
  if (Made.back().Text.empty() && IsOfAll) {
    Made.pop_back();
    endWord();
  }
}

void Expander::expand(StringRef Raw, bool IsQuoted) {
  constexpr unsigned MaxDepth = 64;
  if (++Depth > MaxDepth)
    S.giveUp();
  const auto Literal = [&](const char *At) {
    put(StringRef(At, 1), S.originOf(At));
  };
  for (size_t I = 0; I < Raw.size() && !S.isSpent();) {
    const StringRef Rest = Raw.drop_front(I);
    const char C = Rest.front();
    if (C == '$') {
      I += dollar(Rest, IsQuoted);
    } else if (C == '`') {
      const size_t End = std::min(Rest.size(), Rest.find('`', 1));
      substitution(Rest.slice(1, End), Rest, IsQuoted);
      I += End + 1;
    } else if (C == '\\' && Rest.size() > 1) {
      if (IsQuoted && !StringRef("$`\"\\\n").contains(Rest[1]))
        Literal(Rest.data());
      if (Rest[1] != '\n')
        Literal(Rest.data() + 1);
      I += 2;
    } else if (C == '\'' && !IsQuoted) {
      const size_t End = std::min(Rest.size(), Rest.find('\'', 1));
      openWord();
      for (size_t J = 1; J < End; ++J)
        Literal(Rest.data() + J);
      I += End + 1;
    } else if (C == '"' && !IsQuoted) {
      const size_t End = closingQuote(Rest);
      quoted(Rest.slice(1, End));
      I += End + 1;
    } else {
      Literal(Rest.data());
      ++I;
    }
  }
  --Depth;
}

std::vector<Traced> Expander::words(StringRef Raw) {
  std::vector<Traced> Outer;
  std::swap(Outer, Made);
  const bool WasOpen = std::exchange(IsOpen, false);
  expand(Raw, false);
  std::swap(Outer, Made);
  IsOpen = WasOpen;
  return Outer;
}

/// Joins the words of \p Raw with blanks, and interprets quotes in it.
Traced Expander::text(StringRef Raw) {
  const std::vector<Traced> Of = words(Raw);
  Traced All;
  for (const Traced &W : Of) {
    if (&W != &Of.front())
      All.add(' ', W.At.empty() ? SourceRange() : W.At.front());
    All.add(W);
  }
  return All;
}

std::optional<int64_t> Expander::arithmetic(StringRef Expression) {
  const std::string Text = text(Expression).Text;
  return evaluate(
      Text,
      [&](StringRef Name) -> std::optional<int64_t> {
        const std::optional<ArrayRef<Traced>> Value = lookUp(Name);
        int64_t Integer = 0;
        if (!Value || Value->empty())
          return S.Own.contains(Name) ? std::optional(Integer) : std::nullopt;
        const StringRef Text = Value->front().Text;
        if (!S.spend(1 + Text.size() / 8) ||
            Text.trim().getAsInteger(0, Integer))
          return std::nullopt;
        return Integer;
      },
      [&](StringRef Name, int64_t Value) {
        S.Variables[Name] = {countOf(Value, S.originOf(Expression.data())),
                             false};
      });
}

} // namespace foretrace::importers::shell
