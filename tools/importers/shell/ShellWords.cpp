// SPDX-License-Identifier: Apache-2.0
#include "tools/importers/shell/ShellWords.h"
#include "tools/importers/shell/ShellSyntax.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"

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

SourceRange State::originOf(const char *At) const {
  for (const Traced &T : reverse(Texts))
    if (At >= T.Text.data() && At < T.Text.data() + T.Text.size())
      return T.At[At - T.Text.data()];
  return {};
}

void Expander::endWord() { IsOpen = false; }

static void addTo(std::vector<Traced> &Words, bool &IsOpen) {
  if (!IsOpen)
    Words.emplace_back();
  IsOpen = true;
}

/// Adds values of a variable: in quotes as one word, or one each if they are
/// \p AreApart, else as the words that they have.
void Expander::insert(const std::vector<Traced> &Values, bool IsQuoted,
                      bool AreApart) {
  for (const Traced &V : Values) {
    if (&V != &Values.front()) {
      if (IsQuoted && !AreApart) {
        const auto Ifs = S.Variables.find("IFS");
        const bool HasIfs = Ifs != S.Variables.end() &&
                            !Ifs->second.Elements.front().Text.empty();
        addTo(Made, IsOpen);
        Made.back().add(HasIfs ? Ifs->second.Elements.front().Text.front()
                               : ' ',
                        V.At.empty() ? SourceRange() : V.At.front());
      } else {
        endWord();
      }
    }
    if (IsQuoted)
      addTo(Made, IsOpen);
    for (size_t I = 0; I != V.Text.size(); ++I) {
      if (!IsQuoted && isSpace(V.Text[I])) {
        endWord();
        continue;
      }
      addTo(Made, IsOpen);
      Made.back().add(V.Text[I], V.At[I]);
    }
  }
}

/// Whether the variable at the start of \p Whole is the only value of a flag,
/// in the text that it is written in.
static bool isValueOfFlag(const std::deque<Traced> &Texts, StringRef Whole) {
  constexpr StringLiteral Blanks(" \t\\\n");
  for (const Traced &T : Texts) {
    const StringRef All = T.Text;
    if (Whole.data() < All.begin() || Whole.data() >= All.end())
      continue;
    const size_t At = Whole.data() - All.data();
    const StringRef Before = All.take_front(At).rtrim(Blanks);
    const StringRef Flag = Before.drop_front(Before.find_last_of(" \t\n") + 1);
    StringRef After = All.drop_front(At + 1);
    After = After.drop_front(
        std::min(After.size(), After.find_first_of(" \t\n)\"")));
    return Flag.starts_with("--") && Flag.size() < Before.size() &&
           !Flag.contains('=') && After.ltrim(Blanks).starts_with("--");
  }
  return false;
}

/// A variable that nothing sets is empty, or stays as it is written.
void Expander::insertUndefined(StringRef Name, StringRef Whole) {
  if (IsTest || (S.Own.contains(Name) && !isValueOfFlag(S.Texts, Whole)))
    return;
  addTo(Made, IsOpen);
  Made.back().add(("${" + Name + "}").str(), S.originOf(Whole.data()));
}

std::optional<std::vector<Traced>> Expander::lookUp(StringRef Name) const {
  size_t Number;
  if (!Name.getAsInteger(10, Number)) {
    if (Number == 0 || Number > S.Arguments.size())
      return std::nullopt;
    return std::vector{S.Arguments[Number - 1]};
  }
  if (Name == "@" || Name == "*")
    return S.Arguments;
  if (Name == "#") {
    Traced Count;
    Count.add(std::to_string(S.Arguments.size()), {});
    return std::vector{Count};
  }
  const auto Found = S.Variables.find(Name);
  if (Found == S.Variables.end())
    return std::nullopt;
  return Found->second.Elements;
}

static bool isEmpty(const std::optional<std::vector<Traced>> &Value) {
  return !Value ||
         all_of(*Value, [](const Traced &T) { return T.Text.empty(); });
}

/// Cuts what \p Pattern matches off the start or the end of \p T.
static bool cut(Traced &T, StringRef Pattern, bool AtEnd, bool IsLongest) {
  Expected<GlobPattern> Glob = GlobPattern::create(Pattern);
  if (!Glob) {
    consumeError(Glob.takeError());
    return false;
  }
  const size_t Size = T.Text.size();
  for (size_t I = 0; I <= Size; ++I) {
    const size_t Length = IsLongest ? Size - I : I;
    const StringRef Text = T.Text;
    if (!Glob->match(AtEnd ? Text.take_back(Length) : Text.take_front(Length)))
      continue;
    const size_t From = AtEnd ? Size - Length : 0;
    T.Text.erase(From, Length);
    T.At.erase(T.At.begin() + From, T.At.begin() + From + Length);
    break;
  }
  return true;
}

/// Applies what follows the name in `${NAME...}`; false if it is not supported.
bool Expander::applies(StringRef Operator, StringRef Operand,
                       std::optional<std::vector<Traced>> &Value,
                       bool IsQuoted) {
  const bool IsUnset = Operator.starts_with(":") ? isEmpty(Value) : !Value;
  switch (Operator.back()) {
  case '-':
  case '=':
    if (IsUnset)
      Value = IsQuoted ? std::vector{text(Operand)} : words(Operand);
    return true;
  case '+':
    Value = IsUnset ? std::vector<Traced>() : words(Operand);
    return true;
  case '?':
    return true;
  case '%':
  case '#':
    if (!Value)
      return true;
    return all_of(*Value, [&](Traced &T) {
      return cut(T, text(Operand).Text, Operator.back() == '%',
                 Operator.size() == 2);
    });
  default:
    return false;
  }
}

void Expander::parameter(StringRef Inside, StringRef Whole, bool IsQuoted) {
  const bool IsLength = Inside.size() > 1 && Inside.consume_front("#");
  Inside.consume_front("!");
  StringRef Name =
      Inside.take_while([](char C) { return isAlnum(C) || C == '_'; });
  if (Name.empty())
    Name = Inside.take_front();
  StringRef Rest = Inside.drop_front(Name.size()), Index;
  if (Rest.consume_front("[")) {
    Index = Rest.split(']').first;
    Rest = Rest.split(']').second;
  }
  std::optional<std::vector<Traced>> Value = lookUp(Name);
  if (Value && !Index.empty() && Index != "@" && Index != "*") {
    const std::optional<int64_t> At = arithmetic(Index);
    const bool IsInside = At && *At >= 0 && size_t(*At) < Value->size();
    Value = IsInside ? std::vector{(*Value)[*At]} : std::vector<Traced>();
  } else if (Value && Index.empty() && Name != "@" && Name != "*" &&
             Value->size() > 1) {
    Value->resize(1); // an array without an index is its first element
  }
  if (IsLength && Value) {
    Traced Count;
    Count.add(std::to_string(Index.empty() ? Value->front().Text.size()
                                           : Value->size()),
              S.originOf(Whole.data()));
    Value = std::vector{Count};
  }
  const size_t Length =
      Rest.size() > 1 && (Rest[0] == ':' || Rest[0] == Rest[1]) ? 2 : 1;
  const StringRef Operator = Rest.take_front(Length);
  if (!Operator.empty() &&
      !applies(Operator, Rest.drop_front(Operator.size()), Value, IsQuoted))
    Value = std::nullopt;
  if (Value)
    insert(*Value, IsQuoted, Index == "@" || Name == "@");
  else
    insertUndefined(Name, Whole);
}

void Expander::substitution(StringRef Inside, StringRef Whole, bool IsQuoted) {
  if (const std::optional<Traced> Output = Run(Inside)) {
    insert({*Output}, IsQuoted, false);
    return;
  }
  addTo(Made, IsOpen);
  Made.back().add(("$(" + Inside + ")").str(), S.originOf(Whole.data()));
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
    else if (const auto Value = arithmetic(Inside)) {
      Traced Number;
      Number.add(std::to_string(*Value), S.originOf(Raw.data()));
      insert({Number}, IsQuoted, false);
    } else {
      addTo(Made, IsOpen);
      Made.back().add(Raw.take_front(1 + Length), S.originOf(Raw.data()));
    }
    return 1 + Length;
  }
  StringRef Name =
      Rest.take_while([](char C) { return isAlnum(C) || C == '_'; });
  if (!Name.empty() && isDigit(Name.front()))
    Name = Name.take_front();
  else if (Name.empty() && !Rest.empty() && StringRef("@*#?").contains(Rest[0]))
    Name = Rest.take_front();
  if (Name.empty()) {
    addTo(Made, IsOpen);
    Made.back().add('$', S.originOf(Raw.data()));
    return 1;
  }
  parameter(Name, Raw, IsQuoted);
  return 1 + Name.size();
}

void Expander::expand(StringRef Raw, bool IsQuoted) {
  const auto Literal = [&](const char *At) {
    addTo(Made, IsOpen);
    Made.back().add(*At, S.originOf(At));
  };
  for (size_t I = 0; I < Raw.size();) {
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
      addTo(Made, IsOpen);
      for (size_t J = 1; J < End; ++J)
        Literal(Rest.data() + J);
      I += End + 1;
    } else if (C == '"' && !IsQuoted) {
      const size_t Length =
          rawLength(Rest.take_front(std::min(Rest.size(), rawLength(Rest))));
      // The first quoted part alone.
      size_t End = 1;
      for (size_t Depth = 0; End < Length; ++End) {
        if (Rest[End] == '\\') {
          ++End;
        } else if (Rest[End] == '$' && End + 1 < Length &&
                   StringRef("({").contains(Rest[End + 1])) {
          ++Depth;
          ++End;
        } else if (Depth && StringRef(")}").contains(Rest[End])) {
          --Depth;
        } else if (Rest[End] == '"' && !Depth) {
          break;
        }
      }
      addTo(Made, IsOpen);
      expand(Rest.slice(1, End), true);
      // `"${A[@]}"` of an empty array and `"$@"` without arguments are no word.
      const StringRef Inside = Rest.slice(1, End);
      const bool IsOfAll =
          Inside.ends_with("[@]}") || Inside == "$@" || Inside == "${@}";
      if (Made.back().Text.empty() && IsOfAll) {
        Made.pop_back();
        IsOpen = false;
      }
      I += End + 1;
    } else {
      Literal(Rest.data());
      ++I;
    }
  }
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

Traced Expander::text(StringRef Raw) {
  // As in quotes, but quotes themselves count.
  std::vector<Traced> Outer;
  std::swap(Outer, Made);
  const bool WasOpen = std::exchange(IsOpen, false);
  expand(Raw, false);
  Traced All;
  for (const Traced &W : Made) {
    if (&W != &Made.front())
      All.add(' ', W.At.empty() ? SourceRange() : W.At.front());
    All.add(W);
  }
  std::swap(Outer, Made);
  IsOpen = WasOpen;
  return All;
}

std::optional<int64_t> Expander::arithmetic(StringRef Expression) {
  const std::string Text = text(Expression).Text;
  return evaluate(
      Text,
      [&](StringRef Name) -> std::optional<int64_t> {
        const auto Value = lookUp(Name);
        int64_t Integer = 0;
        if (!Value || Value->empty())
          return S.Own.contains(Name) ? std::optional(Integer) : std::nullopt;
        if (StringRef(Value->front().Text).trim().getAsInteger(10, Integer))
          return std::nullopt;
        return Integer;
      },
      [&](StringRef Name, int64_t Value) {
        Traced Number;
        Number.add(std::to_string(Value), S.originOf(Expression.data()));
        S.Variables[Name] = {{Number}, false};
      });
}

} // namespace foretrace::importers::shell
