// SPDX-License-Identifier: Apache-2.0
//
// Conditions of a shell, `[ ]` and `[[ ]]`, and patterns.
#include "tools/importers/shell/ShellRun.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace foretrace::importers::shell {

Pattern::Pattern(State &S, StringRef Written) : S(S), Written(Written) {
  Expected<GlobPattern> Glob = GlobPattern::create(this->Written);
  if (Glob)
    Compiled = std::move(*Glob);
  else
    consumeError(Glob.takeError());
}

bool Pattern::matches(StringRef Text) const {
  // Each character may be compared with all of the pattern.
  constexpr size_t Compared = 16;
  return Compiled &&
         S.spend(Compared + Text.size() * Written.size() / Compared) &&
         Compiled->match(Text);
}

static bool isUnknown(StringRef Text) { return Text.contains("$("); }

/// Combines conditions that may be unknown by `||` or `&&`: one true condition
/// decides the first, one false condition the second.
static std::optional<bool> combine(bool Decides, std::optional<bool> L,
                                   std::optional<bool> R) {
  if (L == Decides || R == Decides)
    return Decides;
  return L && R ? std::optional(!Decides) : std::nullopt;
}

/// The parts of a condition between the words \p At.
static std::vector<ArrayRef<Traced>> splitAt(ArrayRef<Traced> Of,
                                             StringRef At) {
  std::vector<ArrayRef<Traced>> Parts = {{}};
  for (const Traced &W : Of)
    if (W.Text == At)
      Parts.emplace_back();
    else
      Parts.back() = {Parts.back().empty() ? &W : Parts.back().begin(), &W + 1};
  return Parts;
}

/// Removes `!` from the start of \p Of; returns whether they negate.
static bool takeNegations(ArrayRef<Traced> &Of) {
  const auto *First =
      find_if(Of, [](const Traced &W) { return W.Text != "!"; });
  const size_t Count = First - Of.begin();
  Of = Of.drop_front(Count);
  return Count % 2 != 0;
}

static std::optional<bool> negate(bool IsNegated, std::optional<bool> Is) {
  return Is ? std::optional(*Is != IsNegated) : std::nullopt;
}

/// A condition between brackets.
Follower::Status Follower::test(ArrayRef<Traced> Of) {
  const bool IsNegated = takeNegations(Of);
  Status Any = false;
  for (ArrayRef<Traced> Part : splitAt(Of, "-o")) {
    Status All = true;
    for (ArrayRef<Traced> Condition : splitAt(Part, "-a"))
      All = combine(false, All, comparison(Condition));
    Any = combine(true, Any, All);
  }
  return negate(IsNegated, Any);
}

/// A condition without `-o` and `-a`.
Follower::Status Follower::comparison(ArrayRef<Traced> Of) {
  if (takeNegations(Of))
    return negate(true, comparison(Of));
  if (any_of(Of, [](const Traced &W) { return isUnknown(W.Text); }))
    return std::nullopt;
  if (Of.empty())
    return false;
  const StringRef First = Of.front().Text;
  if (First == "-z" || First == "-n")
    return (Of.size() == 1 || Of[1].Text.empty()) == (First == "-z");
  if (First.size() == 2 && First.front() == '-' && Of.size() <= 2)
    return std::nullopt; // about files
  if (Of.size() == 1)
    return !First.empty();
  // A side that is empty is no word.
  const bool LacksLeft = Of.size() == 2 && !Of[1].Text.empty() &&
                         !StringRef("=!<>-").contains(Of[1].Text.front());
  const StringRef Operator = Of[LacksLeft ? 0 : 1].Text;
  const StringRef L = LacksLeft ? StringRef() : First;
  const StringRef R =
      Of.size() == 2 && !LacksLeft ? StringRef() : StringRef(Of.back().Text);
  if (Operator == "=" || Operator == "==" || Operator == "!=") {
    S.noteComparison(L, R);
    const bool IsSame = L == R || Pattern(S, R).matches(L);
    return IsSame == (Operator != "!=");
  }
  if (Operator == "<" || Operator == ">") // of texts, as in a dictionary
    return Operator == "<" ? L < R : L > R;
  int64_t A, B;
  if (L.getAsInteger(10, A) || R.getAsInteger(10, B))
    return std::nullopt;
  return StringSwitch<Status>(Operator)
      .Case("-eq", A == B)
      .Case("-ne", A != B)
      .Case("-gt", A > B)
      .Case("-ge", A >= B)
      .Case("-lt", A < B)
      .Case("-le", A <= B)
      .Default(std::nullopt);
}

/// The condition between `[[` and `]]`.
Follower::Status Follower::testAll(StringRef Raw) {
  Status Any = false;
  for (StringRef Part : split(Raw, "||")) {
    Status All = true;
    for (StringRef Condition : split(Part, "&&"))
      All = combine(false, All, testWords(Condition));
    Any = combine(true, Any, All);
  }
  return Any;
}

Follower::Status Follower::testWords(StringRef Raw) {
  std::vector<Traced> Of;
  Words.IsTest = true;
  for (StringRef W : splitRaw(Raw)) {
    // Nothing is split here, so an empty text is a word, too.
    Of.push_back(Words.text(W));
  }
  Words.IsTest = false;
  return test(Of);
}

} // namespace foretrace::importers::shell
