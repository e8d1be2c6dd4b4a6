// SPDX-License-Identifier: Apache-2.0
//
// Conditions of a shell: `[ ]` and `[[ ]]`.
#include "tools/importers/shell/ShellRun.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/GlobPattern.h"

using namespace llvm;

namespace foretrace::importers::shell {

static bool isUnknown(StringRef Text) { return Text.contains("$("); }

/// A condition between brackets.
Follower::Status Follower::test(ArrayRef<Traced> Of) {
  if (!Of.empty() && Of.front().Text == "!") {
    const Status Is = test(Of.drop_front());
    return Is ? Status(!*Is) : std::nullopt;
  }
  for (StringRef Link : {"-o", "-a"})
    for (size_t I = 0; I != Of.size(); ++I)
      if (Of[I].Text == Link) {
        const Status L = test(Of.take_front(I)), R = test(Of.drop_front(I + 1));
        const bool Decides = Link == "-o";
        if (L == Decides || R == Decides)
          return Decides;
        return L && R ? Status(!Decides) : std::nullopt;
      }
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
    Expected<GlobPattern> Glob = GlobPattern::create(R);
    if (!Glob)
      consumeError(Glob.takeError());
    const bool IsSame = L == R || (Glob && Glob->match(L));
    return IsSame == (Operator != "!=");
  }
  int64_t A, B;
  if (L.getAsInteger(10, A) || R.getAsInteger(10, B))
    return std::nullopt;
  return StringSwitch<Status>(Operator)
      .Case("-eq", A == B)
      .Case("-ne", A != B)
      .Cases("-gt", ">", A > B)
      .Case("-ge", A >= B)
      .Cases("-lt", "<", A < B)
      .Case("-le", A <= B)
      .Default(std::nullopt);
}

/// What is between `[[` and `]]`.
Follower::Status Follower::testAll(StringRef Raw) {
  for (StringRef Link : {"||", "&&"})
    if (const size_t At = Raw.find(Link); At != StringRef::npos) {
      const Status L = testAll(Raw.take_front(At)),
                   R = testAll(Raw.drop_front(At + 2));
      const bool Decides = Link == "||";
      if (L == Decides || R == Decides)
        return Decides;
      return L && R ? Status(!Decides) : std::nullopt;
    }
  std::vector<Traced> Of;
  Words.IsTest = true;
  for (StringRef W : splitRaw(Raw)) {
    // Nothing is split here, so what is empty is a word, too.
    Of.push_back(Words.text(W));
  }
  Words.IsTest = false;
  return test(Of);
}

} // namespace foretrace::importers::shell
