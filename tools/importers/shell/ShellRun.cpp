// SPDX-License-Identifier: Apache-2.0
#include "tools/importers/shell/ShellRun.h"
#include "lang/diagnostics/Import.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace::importers::shell {

/// Limit of rounds of a loop whose condition never fails, such as one that
/// waits for a program.
static constexpr unsigned MaxRounds = 256;

/// Follows a text that is kept; \p IsOwn if what it sets remains.
void Follower::followKept(StringRef Text, bool IsOwn) {
  // A text may be followed many times, and is parsed each time.
  if (Depth == MaxDepthOfCalls || !S.spend(CharacterEffort * Text.size()))
    return;
  ++Depth;
  const auto Parsed = std::make_shared<const Commands>(parse(Text));
  const auto Outside = std::exchange(Script, Parsed);
  if (IsOwn)
    collectOwn(*Parsed);
  run(*Parsed);
  if (Leaves != Leave::Exit)
    Leaves = Leave::No;
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

void Follower::forget(const Commands &All, bool IsOftenSet) {
  S.spend(WordEffort * All.size());
  for (const Command &C : All) {
    for (const Assignment &A : C.Assignments) {
      if (IsOftenSet)
        S.Variables.erase(A.Name);
      if (!S.Variables.contains(A.Name))
        S.Own.erase(A.Name);
    }
    for (const Branch &B : C.Branches)
      forget(B.Body, IsOftenSet);
  }
}

/// Returns whether a flag is written in one of the commands.
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

/// Follows no branch, as the condition depends on something unknown.
void Follower::undecided(const Command &C, StringRef Where) {
  // In a loop, one message is enough.
  if (!Where.empty() && Undecided.insert(Where.data()).second &&
      any_of(C.Branches, [](const Branch &B) { return hasFlag(B.Body); }))
    Diags.report(S.originOf(Where.data()), diag::ImportUndecided, Where);
  for (const Branch &B : C.Branches)
    forget(B.Body, /*IsOftenSet=*/C.Is == Command::Kind::While);
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
    // `[ -f x ] && exit` ends nothing if it is unknown whether x exists.
    const bool WasSure = IsSure;
    IsSure &= C.After != Command::Link::And || Last.has_value();
    const Status Is = run(C);
    if (std::exchange(IsSure, WasSure) != IsSure)
      Leaves = Leave::No;
    if (Leaves != Leave::No)
      return Is;
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
    return C.IsSubshell ? subshell(C) : run(C.Branches.front().Body);
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
    for (const Branch &B : C.Branches)
      for (StringRef Written : B.Patterns)
        if (Written != "*")
          S.noteComparison(Of.Text, Words.text(Written).Text);
    undecided(C, C.Words.front());
    return std::nullopt;
  }
  for (const Branch &B : C.Branches)
    for (StringRef Written : B.Patterns)
      if (Pattern(S, Words.text(Written).Text).matches(Of.Text))
        return run(B.Body);
  return true;
}

/// Runs a subshell: its variables are lost, and `exit` ends only it.
Follower::Status Follower::subshell(const Command &C) {
  size_t Effort = 0;
  for (const auto &V : S.Variables)
    Effort += copyEffort(V.second.Elements);
  if (!S.spend(Effort))
    return std::nullopt;
  const StringMap<Variable> Before = S.Variables;
  ++Subshells;
  const Status Is = run(C.Branches.front().Body);
  --Subshells;
  S.Variables = Before;
  Leaves = Leave::No;
  return Is;
}

/// Follows the body of a loop once; false if that was the last time.
bool Follower::round(const Commands &Body) {
  run(Body);
  if (Leaves == Leave::Continue)
    Leaves = Leave::No;
  const bool GoesOn = Leaves == Leave::No;
  if (Leaves == Leave::Break)
    Leaves = Leave::No;
  return GoesOn;
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
      if (!round(B.Body))
        break;
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
    if (!Holds && !IsCounted)
      undecided(C, placeOf(B.Condition));
    if (!Holds || *Holds == C.IsNegated)
      return true;
    if (!round(B.Body))
      return true;
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
  StringRef Written = A.Values.empty() ? "" : A.Values.front();
  Written = Written.trim('"');
  if (Written.consume_front("$") && S.Functions == 0)
    if (State::MissingWord *M =
            S.findMissing(("${" + Written.trim("{}") + "}").str());
        M && M->Name.empty())
      M->Name = A.Name.str();
  Variable &To = S.Variables[A.Name];
  if (!A.IsAppended || To.Elements.empty())
    To = std::move(New);
  else if (A.IsArray)
    append_range(To.Elements, New.Elements);
  else
    To.Elements.front().add(New.Elements.front());
}

/// Returns the output of a script, if all its effects are known.
std::optional<Traced> Follower::output(StringRef Text) {
  size_t Effort = 0;
  for (const auto &V : S.Variables)
    Effort += copyEffort(V.second.Elements);
  if (!S.spend(Effort) || Depth == MaxDepthOfCalls)
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
  Leaves = Leave::No;
  IsCaptureKnown = WasKnown;
  S.Variables = Before;
  return IsKnown ? std::optional(Printed) : std::nullopt;
}

void Follower::hide(StringRef Name) {
  const auto Found = S.Variables.find(Name);
  if (Found == S.Variables.end()) {
    Hidden.emplace_back(Name.str(), std::nullopt);
  } else if (S.spend(copyEffort(Found->second.Elements))) {
    Hidden.emplace_back(Name.str(), Found->second);
  }
}

Follower::Status Follower::simple(const Command &C) {
  // Before a command, assignments are for it alone.
  if (C.Words.empty() ||
      is_contained({"export", "local", "declare", "readonly", "typeset"},
                   C.Words.front())) {
    const bool IsLocal = !C.Words.empty() && C.Words.front() != "export" &&
                         C.Words.front() != "readonly";
    if (IsLocal && S.Functions > 0)
      for (const Assignment &A : C.Assignments)
        hide(A.Name);
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

} // namespace foretrace::importers::shell
