// SPDX-License-Identifier: Apache-2.0
#include "tools/importers/shell/ShellRun.h"
#include "lang/diagnostics/Import.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace::importers::shell {

/// Scripts and functions may be this deep in others.
static constexpr unsigned MaxDepth = 16;
/// How often a loop is followed whose condition never fails, such as one that
/// waits for a program.
static constexpr unsigned MaxRounds = 256;

/// Follows a text that is kept; \p IsOwn if what it sets remains.
void Follower::followKept(StringRef Text, bool IsOwn) {
  // A text may be followed many times, and is parsed each time.
  if (Depth == MaxDepth || !S.spend(CharacterEffort * Text.size()))
    return;
  ++Depth;
  const auto Parsed = std::make_shared<const Commands>(parse(Text));
  const auto Outside = std::exchange(Script, Parsed);
  if (IsOwn)
    collectOwn(*Parsed);
  run(*Parsed);
  Script = Outside;
  --Depth;
}

void Follower::follow(Traced Text) {
  followKept(S.keep(std::move(Text)), /*IsOwn=*/true);
}

void Follower::collectOwn(const Commands &All) {
  for (const Command &C : All) {
    for (const Assignment &A : C.Assignments)
      S.Own.insert(A.Name);
    if (C.Is == Command::Kind::For && !C.Words.empty())
      S.Own.insert(C.Words.front());
    for (const Branch &B : C.Branches) {
      collectOwn(B.Condition);
      collectOwn(B.Body);
    }
  }
}

void Follower::forget(const Commands &All) {
  S.spend(WordEffort * All.size());
  for (const Command &C : All) {
    for (const Assignment &A : C.Assignments)
      if (!S.Variables.contains(A.Name))
        S.Own.erase(A.Name);
    for (const Branch &B : C.Branches)
      forget(B.Body);
  }
}

/// Whether a flag is written in one of the commands.
static bool hasFlag(const Commands &All) {
  const auto IsFlag = [](StringRef W) { return W.contains("--"); };
  return any_of(All, [&](const Command &C) {
    return any_of(C.Words, IsFlag) ||
           any_of(
               C.Assignments,
               [&](const Assignment &A) { return any_of(A.Values, IsFlag); }) ||
           any_of(C.Branches, [](const Branch &B) { return hasFlag(B.Body); });
  });
}

/// No branch is followed, as the condition depends on what is not known.
void Follower::undecided(const Command &C, StringRef Where) {
  // In a loop, one message is enough.
  if (!Where.empty() && Undecided.insert(Where.data()).second &&
      any_of(C.Branches, [](const Branch &B) { return hasFlag(B.Body); }))
    Diags.report(S.originOf(Where.data()), diag::ImportUndecided, Where);
  for (const Branch &B : C.Branches)
    forget(B.Body);
}

Follower::Status Follower::run(const Commands &All) {
  Status Last = true;
  for (const Command &C : All) {
    if (C.After == Command::Link::And && Last == false)
      continue;
    if (C.After == Command::Link::Or && Last != false)
      continue;
    if (!S.spend(CommandEffort))
      return std::nullopt;
    const Status Is = run(C);
    // A chain with an undecided condition is undecided.
    Last = C.After == Command::Link::And && !Last && Is != false ? Last : Is;
    if (C.IsNegated && Last && C.Is != Command::Kind::While)
      Last = !*Last;
  }
  return Last;
}

Follower::Status Follower::run(const Command &C) {
  switch (C.Is) {
  case Command::Kind::Simple:
    return simple(C);
  case Command::Kind::Arithmetic: {
    const auto Value = Words.arithmetic(C.Words.front());
    return Value ? Status(*Value != 0) : std::nullopt;
  }
  case Command::Kind::Test:
    return testAll(C.Words.front());
  case Command::Kind::If:
    return conditional(C);
  case Command::Kind::Case:
    return caseOf(C);
  case Command::Kind::While:
  case Command::Kind::For:
  case Command::Kind::ForArithmetic:
    return loop(C);
  case Command::Kind::Group:
    return run(C.Branches.front().Body);
  case Command::Kind::Function:
    Functions[C.Words.front()] = {Script, &C};
    return true;
  }
  llvm_unreachable("unknown kind of command");
}

/// The first command of a condition as it is written, for messages.
static StringRef placeOf(const Commands &Condition) {
  for (const Command &C : Condition)
    if (!C.Words.empty()) {
      const char *Begin = StringRef(C.Words.front()).begin();
      const char *End = StringRef(C.Words.back()).end();
      return End > Begin ? StringRef(Begin, End - Begin).trim() : "";
    }
  return "";
}

Follower::Status Follower::conditional(const Command &C) {
  for (const Branch &B : C.Branches) {
    const Status Holds = B.Condition.empty() ? Status(true) : run(B.Condition);
    if (!Holds) {
      undecided(C, placeOf(B.Condition));
      return std::nullopt;
    }
    if (*Holds)
      return run(B.Body);
  }
  return true;
}

Follower::Status Follower::caseOf(const Command &C) {
  const Traced Of = Words.text(C.Words.front());
  if (StringRef(Of.Text).contains("$(") || StringRef(Of.Text).contains("${")) {
    undecided(C, C.Words.front());
    return std::nullopt;
  }
  for (const Branch &B : C.Branches)
    for (StringRef Written : B.Patterns)
      if (Pattern(S, Words.text(Written).Text).matches(Of.Text))
        return run(B.Body);
  return true;
}

Follower::Status Follower::loop(const Command &C) {
  const Branch &B = C.Branches.front();
  if (C.Is == Command::Kind::For) {
    std::vector<Traced> Values;
    for (StringRef W : drop_begin(C.Words))
      append_range(Values, Words.words(W));
    for (const Traced &V : Values) {
      if (!S.spend(CommandEffort))
        return std::nullopt;
      S.Variables[C.Words.front()] = {{V}, false};
      run(B.Body);
    }
    return true;
  }
  const bool IsCounted = C.Is == Command::Kind::ForArithmetic;
  if (IsCounted)
    Words.arithmetic(C.Words[0]);
  for (unsigned I = 0; I != MaxRounds && S.spend(CommandEffort); ++I) {
    Status Holds;
    if (IsCounted) {
      const auto Value = Words.arithmetic(C.Words[1]);
      Holds = Value ? Status(*Value != 0) : std::nullopt;
    } else {
      Holds = run(B.Condition);
    }
    if (!Holds || *Holds == C.IsNegated)
      return true;
    run(B.Body);
    if (IsCounted)
      Words.arithmetic(C.Words[2]);
  }
  return std::nullopt;
}

void Follower::assign(const Assignment &A) {
  Variable New;
  New.IsArray = A.IsArray;
  for (StringRef Value : A.Values)
    if (A.IsArray)
      append_range(New.Elements, Words.words(Value));
    else
      New.Elements.push_back(Words.text(Value));
  Variable &To = S.Variables[A.Name];
  if (!A.IsAppended || To.Elements.empty())
    To = std::move(New);
  else if (A.IsArray)
    append_range(To.Elements, New.Elements);
  else
    To.Elements.front().add(New.Elements.front());
}

/// `echo` and `printf`, whose text may go to a variable.
void Follower::print(std::vector<Traced> Of) {
  const bool IsFormat = Of.front().Text == "printf";
  Of.erase(Of.begin());
  std::string To;
  if (Of.size() > 2 && Of[0].Text == "-v") {
    To = Of[1].Text;
    Of.erase(Of.begin(), Of.begin() + 2);
  }
  Traced Text;
  if (IsFormat && !Of.empty()) {
    size_t Next = 1;
    const Traced &Format = Of.front();
    for (size_t I = 0; I != Format.Text.size(); ++I) {
      const StringRef Rest = StringRef(Format.Text).drop_front(I);
      if (Rest.starts_with("%s") || Rest.starts_with("%d")) {
        if (Next < Of.size())
          Text.add(Of[Next++]);
        ++I;
      } else {
        Text.add(Rest.front(), Format.At[I]);
      }
    }
  } else {
    for (const Traced &W : Of) {
      if (&W != &Of.front())
        Text.add(' ', {});
      Text.add(W);
    }
  }
  if (!To.empty())
    S.Variables[To] = {{Text}, false};
  else if (Captured)
    Captured->add(Text);
}

/// The output of a script, if all that it does is known.
std::optional<Traced> Follower::output(StringRef Text) {
  size_t Effort = 0;
  for (const auto &V : S.Variables)
    Effort += copyEffort(V.second.Elements);
  if (!S.spend(Effort) || Depth == MaxDepth)
    return std::nullopt;
  const StringMap<Variable> Before = S.Variables;
  Traced Printed;
  Traced *const Outside = std::exchange(Captured, &Printed);
  const bool WasKnown = std::exchange(IsCaptureKnown, true);
  const size_t NumNoted = Noted.size();
  followKept(Text, /*IsOwn=*/false);
  const bool IsKnown = IsCaptureKnown && Noted.size() == NumNoted;
  Noted.resize(NumNoted);
  Captured = Outside;
  IsCaptureKnown = WasKnown;
  S.Variables = Before;
  return IsKnown ? std::optional(Printed) : std::nullopt;
}

Follower::Status Follower::simple(const Command &C) {
  // Before a command, assignments are for it alone.
  if (C.Words.empty() ||
      is_contained({"export", "local", "declare", "readonly", "typeset"},
                   C.Words.front())) {
    for (const Assignment &A : C.Assignments)
      assign(A);
    return true;
  }
  Words.IsTest = C.Words.front() == "[" || C.Words.front() == "test";
  std::vector<Traced> Of;
  for (StringRef W : C.Words)
    append_range(Of, Words.words(W));
  Words.IsTest = false;
  return Of.empty() ? Status(true) : builtin(std::move(Of));
}

/// Follows a shell in a command: `eval ...`, `bash -c ...`.
bool Follower::followNested(const std::vector<Traced> &Of) {
  const StringRef Name = Of.front().Text;
  size_t Script = Name == "eval" ? 1 : 0;
  bool HasShell = false;
  for (size_t I = 1; I + 1 < Of.size() && !Script; ++I) {
    const StringRef Before = sys::path::filename(Of[I - 1].Text);
    HasShell |= Before == "bash" || Before == "sh";
    const StringRef Option = Of[I].Text;
    if (HasShell && !Before.empty() && Option.starts_with("-") &&
        Option.ends_with("c"))
      Script = I + 1;
  }
  if (Script && Script < Of.size()) {
    Traced Text;
    for (size_t I = Script; I != (Name == "eval" ? Of.size() : Script + 1);
         ++I) {
      if (I != Script)
        Text.add(' ', {});
      Text.add(Of[I]);
    }
    S.spend(copyEffort(Of));
    std::vector<Traced> Before(Of.begin(), Of.begin() + Script);
    std::swap(Before, Outer);
    follow(std::move(Text));
    std::swap(Before, Outer);
    return true;
  }
  return false;
}

Follower::Status Follower::call(Function Called, std::vector<Traced> Of) {
  if (Depth == MaxDepth)
    return std::nullopt;
  ++Depth;
  Of.erase(Of.begin());
  std::swap(Of, S.Arguments);
  std::swap(Called.Script, Script);
  run(Called.Is->Branches.front().Body);
  std::swap(Called.Script, Script);
  std::swap(Of, S.Arguments);
  --Depth;
  return std::nullopt;
}

Follower::Status Follower::builtin(std::vector<Traced> Of) {
  const std::string Name = Of.front().Text;
  if (Name == "[" || Name == "test") {
    if (Of.back().Text == "]")
      Of.pop_back();
    return Of.empty() ? std::nullopt : test(ArrayRef(Of).drop_front());
  }
  if (Name == ":" || Name == "true" || Name == "set" || Name == "exit" ||
      Name == "return" || Name == "wait")
    return true;
  if (Name == "false")
    return false;
  if (Name == "echo" || Name == "printf") {
    print(std::move(Of));
    return true;
  }
  if (Name == "shift") {
    size_t By = 1;
    if (Of.size() > 1 && StringRef(Of[1].Text).getAsInteger(10, By))
      By = 1;
    By = std::min(By, S.Arguments.size());
    S.spend(WordEffort * S.Arguments.size());
    S.Arguments.erase(S.Arguments.begin(), S.Arguments.begin() + By);
    return true;
  }
  if (Name == "unset") {
    for (const Traced &W : drop_begin(Of))
      S.Variables.erase(W.Text);
    return true;
  }
  if ((Name == "source" || Name == ".") && Of.size() > 1) {
    if (const std::optional<Traced> Text = Open(Of[1].Text))
      follow(*Text);
    else
      Diags.report(Of[1].range(), diag::ImportUnresolved, Name, Of[1].Text);
    return true;
  }
  if (const auto Found = Functions.find(Name); Found != Functions.end())
    return call(Found->second, std::move(Of));
  if (followNested(Of))
    return std::nullopt;
  IsCaptureKnown = false;
  if (!S.spend(copyEffort(Outer)))
    return std::nullopt;
  Of.insert(Of.begin(), Outer.begin(), Outer.end());
  Noted.push_back(std::move(Of));
  return std::nullopt;
}

} // namespace foretrace::importers::shell
