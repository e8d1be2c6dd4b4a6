// SPDX-License-Identifier: Apache-2.0
//
// Commands of the shell itself, functions, and shells in commands.
#include "lang/diagnostics/Import.h"
#include "tools/importers/shell/ShellRun.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace::importers::shell {

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
    const bool IsEval = Name == "eval";
    follow(std::move(Text));
    if (!IsEval)
      Leaves = Leave::No;
    std::swap(Before, Outer);
    return true;
  }
  return false;
}

Follower::Status Follower::call(Function Called, std::vector<Traced> Of) {
  if (Depth == MaxDepthOfCalls)
    return std::nullopt;
  ++Depth;
  Of.erase(Of.begin());
  std::swap(Of, S.Arguments);
  std::swap(Called.Script, Script);
  const size_t NumHidden = Hidden.size();
  ++S.Functions;
  run(Called.Is->Branches.front().Body);
  --S.Functions;
  for (; Hidden.size() > NumHidden; Hidden.pop_back()) {
    auto &[Name, Before] = Hidden.back();
    if (Before)
      S.Variables[Name] = std::move(*Before);
    else
      S.Variables.erase(Name);
  }
  if (Leaves == Leave::Return)
    Leaves = Leave::No;
  std::swap(Called.Script, Script);
  std::swap(Of, S.Arguments);
  --Depth;
  return std::nullopt;
}

/// `exit`, `return`, `break` and `continue`. A script that fails would pass
/// nothing on, so a failure is reported and does not end it.
Follower::Status Follower::end(ArrayRef<Traced> Of) {
  const StringRef Name = Of.front().Text;
  if (Name != "exit") {
    Leaves = Name == "return"  ? Leave::Return
             : Name == "break" ? Leave::Break
                               : Leave::Continue;
    return true;
  }
  int64_t Code = 0;
  if (Of.size() > 1 && StringRef(Of[1].Text).getAsInteger(10, Code))
    return std::nullopt;
  if (Code == 0 || Captured || Subshells > 0) {
    Leaves = Leave::Exit;
    return Code == 0;
  }
  if (IsSure)
    Diags.report(Of.front().range(), diag::ImportShellEnd,
                 "exit " + Of[1].Text);
  return std::nullopt;
}

/// Runs `read`, whose input is unknown.
void Follower::read(ArrayRef<Traced> Of) {
  for (const Traced &W : Of.drop_front()) {
    S.Variables.erase(W.Text);
    S.Own.erase(W.Text);
  }
}

Follower::Status Follower::builtin(std::vector<Traced> Of) {
  const std::string Name = Of.front().Text;
  if (Name == "[" || Name == "test") {
    if (Of.back().Text == "]")
      Of.pop_back();
    return Of.empty() ? std::nullopt : test(ArrayRef(Of).drop_front());
  }
  if (Name == ":" || Name == "true" || Name == "set" || Name == "wait")
    return true;
  if (Name == "exit" || Name == "return" || Name == "break" ||
      Name == "continue")
    return end(Of);
  if (Name == "read") {
    read(Of);
    return std::nullopt;
  }
  if (Name == "let") {
    std::optional<int64_t> Value;
    for (const Traced &W : drop_begin(Of))
      Value = Words.arithmetic(S.keep(W));
    return Value ? Status(*Value != 0) : std::nullopt;
  }
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
