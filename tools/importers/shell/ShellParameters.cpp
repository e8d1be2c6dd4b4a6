// SPDX-License-Identifier: Apache-2.0
//
// `${NAME...}`: what follows the name.
#include "tools/importers/shell/ShellSyntax.h"
#include "tools/importers/shell/ShellWords.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::importers::shell {

static bool isEmpty(const std::optional<std::vector<Traced>> &Value) {
  return !Value ||
         all_of(*Value, [](const Traced &T) { return T.Text.empty(); });
}

/// Cuts what the pattern \p Written matches off the start or the end of \p T.
bool Expander::cut(Traced &T, StringRef Written, bool AtEnd, bool IsLongest) {
  const Pattern Off(S, Written);
  const size_t Size = T.Text.size();
  for (size_t I = 0; I <= Size && !S.isSpent(); ++I) {
    const size_t Length = IsLongest ? Size - I : I;
    const StringRef Text = T.Text;
    if (!Off.matches(AtEnd ? Text.take_back(Length) : Text.take_front(Length)))
      continue;
    const size_t From = AtEnd ? Size - Length : 0;
    T.Text.erase(From, Length);
    T.At.erase(T.At.begin() + From, T.At.begin() + From + Length);
    break;
  }
  return Off.isValid();
}

/// Replaces a text without patterns by another: `/old/new`, with `//` each
/// time.
bool Expander::replace(std::vector<Traced> &In, StringRef Written) {
  const bool IsEach = Written.consume_front("/");
  const auto [Old, New] = Written.split('/');
  const Traced From = text(Old), To = text(New);
  if (From.Text.empty() ||
      StringRef(From.Text).find_first_of("*?[#%") != StringRef::npos)
    return false;
  for (Traced &T : In) {
    Traced Made;
    bool IsDone = false;
    for (size_t I = 0; I < T.Text.size();) {
      if (!IsDone && StringRef(T.Text).substr(I).starts_with(From.Text)) {
        for (size_t J = 0; J != To.Text.size(); ++J)
          Made.add(To.Text[J], T.At[I]);
        I += From.Text.size();
        IsDone = !IsEach;
      } else {
        Made.add(T.Text[I], T.At[I]);
        ++I;
      }
    }
    S.spend(CharacterEffort * (T.Text.size() + Made.Text.size()));
    T = std::move(Made);
  }
  return true;
}

/// Keeps a part: `OFFSET` or `OFFSET:LENGTH`, of words if they are all those of
/// the script, which count from 1.
bool Expander::slice(std::vector<Traced> &In, StringRef Written, bool AreAll) {
  const auto [First, Count] = Written.split(':');
  const std::optional<int64_t> Offset = arithmetic(First);
  const std::optional<int64_t> Length =
      Count.empty() ? std::optional(INT64_MAX) : arithmetic(Count);
  if (!Offset || !Length || *Offset < (AreAll ? 1 : 0) || *Length < 0 ||
      (!AreAll && In.size() > 1))
    return false;
  const auto Cut = [&](auto &Of, int64_t From) {
    const auto Begin = std::min<uint64_t>(From, Of.size());
    Of.erase(Of.begin(), Of.begin() + Begin);
    Of.resize(std::min<uint64_t>(*Length, Of.size()));
  };
  if (AreAll)
    Cut(In, *Offset - 1);
  for (Traced &T : In)
    if (!AreAll) {
      Cut(T.Text, *Offset);
      Cut(T.At, *Offset);
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
  case ',':
  case '^':
    if (!Value)
      return Operand.empty();
    for (Traced &T : *Value) {
      const StringRef Text = T.Text;
      const size_t Length = Operator.size() == 2 ? Text.size() : 1;
      const StringRef Begin = Text.take_front(Length);
      T.Text = (Operator.back() == ',' ? Begin.lower() : Begin.upper()) +
               Text.drop_front(Length).str();
    }
    return Operand.empty();
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

/// Notes a word after the script that it does not get.
void Expander::noteMissing(StringRef Name, StringRef Whole) {
  unsigned Number;
  if (!IsTest && S.Functions == 0 && !Name.getAsInteger(10, Number) &&
      Number > 0)
    S.Missing[Number].Where = S.originOf(Whole.data());
}

void Expander::parameter(StringRef Inside, StringRef Whole, bool IsQuoted) {
  const StringRef All = Inside;
  const bool IsLength = Inside.size() > 1 && Inside.consume_front("#");
  const bool IsIndirect = Inside.size() > 1 && Inside.consume_front("!");
  StringRef Name =
      Inside.take_while([](char C) { return isAlnum(C) || C == '_'; });
  if (Name.empty())
    Name = Inside.take_front();
  StringRef Rest = Inside.drop_front(Name.size()), Index;
  if (Rest.consume_front("[")) {
    Index = Rest.split(']').first;
    Rest = Rest.split(']').second;
  }
  std::optional<std::vector<Traced>> Value = select(Name, Index, Whole);
  bool IsSupported = !IsIndirect || (Index.empty() && Rest.empty());
  const std::string Named = Value && !Value->empty() ? Value->front().Text : "";
  if (IsIndirect && IsSupported && !Named.empty()) {
    Value = select(Named, "", Whole);
    Name = Named;
  }
  IsSupported &= Value || Index.empty() || !lookUp(Name);
  if (IsLength && Value) {
    const bool IsOfAll = !Index.empty() || areAll(Name);
    const size_t Length = IsOfAll          ? Value->size()
                          : Value->empty() ? 0
                                           : Value->front().Text.size();
    Value = countOf(static_cast<int64_t>(Length), S.originOf(Whole.data()));
  }
  const bool IsSlice =
      Rest.size() > 1 && Rest[0] == ':' && !StringRef("-=+?").contains(Rest[1]);
  const size_t Length =
      Rest.size() > 1 && (Rest[0] == ':' || Rest[0] == Rest[1]) ? 2 : 1;
  const StringRef Operator = Rest.take_front(Length);
  if (!Value && (Operator.empty() || IsSlice))
    noteMissing(Name, Whole);
  if (IsSlice)
    IsSupported &= !Value || slice(*Value, Rest.drop_front(), areAll(Name));
  else if (Rest.starts_with("/"))
    IsSupported &= !Value || replace(*Value, Rest.drop_front());
  else if (!Operator.empty())
    IsSupported &=
        applies(Operator, Rest.drop_front(Operator.size()), Value, IsQuoted);
  if (!IsSupported) {
    S.Unsupported.try_emplace(("${" + All + "}").str(),
                              S.originOf(Whole.data()));
    put(("${" + Name + "}").str(), S.originOf(Whole.data()));
  } else if (Value) {
    insert(*Value, IsQuoted, Index == "@" || Name == "@");
  } else {
    insertUndefined(Name, Whole);
  }
}

} // namespace foretrace::importers::shell
