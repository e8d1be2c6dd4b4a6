// SPDX-License-Identifier: Apache-2.0
#include "lang/diagnostics/Import.h"
#include "tools/importers/readers/PythonReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <utility>

using namespace llvm;

namespace foretrace::importers {

/// \p In with another value at \p Path.
ForeignValue PythonReader::replace(const ForeignValue &In,
                                   ArrayRef<ast::Word> Path, ForeignValue New) {
  if (Path.empty() || !spend(In))
    return New;
  std::vector<ForeignValue::Member> Members;
  if (In.Is == ForeignValue::Kind::Map)
    Members = *In.Members;
  const auto Old = find_if(Members, [&](const ForeignValue::Member &M) {
    return M.Key.Text == Path.front().Text;
  });
  ForeignValue Inner = replace(Old == Members.end() ? ForeignValue() : Old->Is,
                               Path.drop_front(), std::move(New));
  if (Old == Members.end())
    Members.push_back({Path.front(), std::move(Inner)});
  else
    Old->Is = std::move(Inner);
  return ForeignValue::of(std::move(Members), In.Range);
}

PythonReader::Kind PythonReader::statement(Variables &Known,
                                           ForeignValue &Returned) {
  if (here().Is == PythonKind::Name && here().Spelling == "return") {
    ++Next;
    Returned = whole(Known);
    return Kind::Returns;
  }
  if (callsOwn(Known))
    return Kind::Followed;
  const size_t Begin = Next;
  std::vector<ast::Word> Path;
  while (here().Is == PythonKind::Name) {
    Path.push_back(
        {here().Spelling.str(), Source.range(here().Begin, here().End)});
    ++Next;
    if (!take("."))
      break;
  }
  if (Path.empty() || Path.size() >= MaxPythonDepth || !take("=")) {
    Next = Begin;
    return Kind::Skipped;
  }
  // Another name of a part of an object, which may be set by it.
  const auto Aliased = Known.find(here().Spelling);
  const bool IsAlias = Path.size() == 1 && Aliased != Known.end() &&
                       Aliased->second.Is == ForeignValue::Kind::Map &&
                       Tokens[Next + 1].Spelling == ".";
  ForeignValue New = whole(Known);
  const bool IsPart = IsAlias && New.Is == ForeignValue::Kind::Map;
  ForeignValue &Variable = Known[Path.front().Text];
  Variable = replace(Variable, ArrayRef(Path).drop_front(), std::move(New));
  return IsPart ? Kind::Skipped : Kind::Followed;
}

/// Returns whether the line from \p Begin has the name of an object. A
/// condition sets nothing itself.
bool PythonReader::namesObject(size_t Begin, const Variables &Known) const {
  size_t End = Begin;
  while (Tokens[End].Is != PythonKind::NewLine &&
         Tokens[End].Is != PythonKind::End)
    ++End;
  if (End > Begin && Tokens[End - 1].Spelling == ":")
    return false;
  for (size_t I = Begin; I != End; ++I) {
    const auto Found = Tokens[I].Is == PythonKind::Name
                           ? Known.find(Tokens[I].Spelling)
                           : Known.end();
    if (Found != Known.end() && Found->second.Is == ForeignValue::Kind::Map)
      return true;
  }
  return false;
}

/// Adds what \p Of has skipped to the function that calls it.
void PythonReader::addSkipped(const Function &Of) {
  if (Current && Current != &Of)
    Current->Skipped.insert(Current->Skipped.end(), Of.Skipped.begin(),
                            Of.Skipped.end());
}

/// Reads the statements of a function.
void PythonReader::run(Function &F, Variables &Known, ForeignValue &Returned) {
  if (F.Body >= Tokens.size() || Left == 0)
    return; // the file may end after its name
  const size_t Before = Next;
  Function *const Caller = std::exchange(Current, &F);
  F.Skipped.clear();
  Next = F.Body;
  const size_t Column = here().Column;
  // Lines that are indented further depend on a condition.
  while (here().Is != PythonKind::End && here().Column != 0) {
    const size_t Begin = Next;
    const Kind Is =
        here().Column == Column ? statement(Known, Returned) : Kind::Skipped;
    if (Is == Kind::Returns)
      break;
    if (Is == Kind::Skipped && namesObject(Begin, Known))
      F.Skipped.push_back(Source.range(Tokens[Begin].Begin, Tokens[Begin].End));
    skipTo([](const PythonToken &T) { return T.Is == PythonKind::NewLine; });
    if (here().Is == PythonKind::NewLine)
      ++Next;
  }
  // Functions that call each other again and again take long.
  constexpr size_t EffortOfToken = 16;
  Left -= std::min(Left, EffortOfToken * (Next - F.Body));
  Next = Before;
  Current = Caller;
  addSkipped(F);
}

/// The result of a function; missing while it is being read, as in a function
/// that calls itself.
ForeignValue PythonReader::call(size_t Of) {
  if (std::exchange(Functions[Of].IsRead, true)) {
    addSkipped(Functions[Of]);
    return Functions[Of].Returned;
  }
  Variables Known;
  ForeignValue Returned;
  run(Functions[Of], Known, Returned);
  return Functions[Of].Returned = Returned;
}

/// Sets the attributes of \p Argument that \p F sets; nothing if \p F calls
/// itself.
void PythonReader::change(Function &F, ForeignValue &Argument) {
  if (F.IsChanging || Depth >= MaxPythonDepth || !spend(Argument))
    return;
  F.IsChanging = true;
  ++Depth;
  Variables Known;
  ForeignValue Returned;
  Known[F.Parameter] = Argument;
  run(F, Known, Returned);
  Argument = Known[F.Parameter];
  --Depth;
  F.IsChanging = false;
}

/// Returns whether the statement is `helper(variable, ...)`, where the file
/// defines `helper`.
bool PythonReader::callsOwn(Variables &Known) {
  const size_t Begin = Next;
  const auto IsSign = [&](size_t At, StringRef Sign) {
    return At < Tokens.size() && Tokens[At].Is == PythonKind::Sign &&
           Tokens[At].Spelling == Sign;
  };
  if (here().Is != PythonKind::Name || !IsSign(Begin + 1, "(") ||
      Tokens[Begin + 2].Is != PythonKind::Name ||
      !(IsSign(Begin + 3, ")") || IsSign(Begin + 3, ",")))
    return false;
  const auto Own = Places.find(here().Spelling);
  const auto Variable = Known.find(Tokens[Begin + 2].Spelling);
  if (Own == Places.end() || Variable == Known.end() ||
      Functions[Own->second].Parameter.empty())
    return false;
  change(Functions[Own->second], Variable->second);
  return true;
}

std::vector<PythonFunction> PythonReader::run() {
  for (size_t I = 0; I + 2 < Tokens.size(); ++I) {
    const PythonToken &Name = Tokens[I + 1];
    if (Tokens[I].Is != PythonKind::Name || Tokens[I].Spelling != "def" ||
        Tokens[I].Column != 0 ||
        (I != 0 && Tokens[I - 1].Is != PythonKind::NewLine))
      continue;
    const PythonToken &First = Tokens[std::min(I + 3, Tokens.size() - 1)];
    Next = I;
    skipTo([](const PythonToken &T) { return T.Is == PythonKind::NewLine; });
    Places.try_emplace(Name.Spelling, Functions.size());
    Functions.push_back(
        {{Name.Spelling.str(), Source.range(Name.Begin, Name.End)},
         First.Is == PythonKind::Name ? First.Spelling.str() : "",
         Next + 1});
  }
  std::vector<PythonFunction> All;
  for (size_t I = 0; I != Functions.size(); ++I) {
    ForeignValue Returned = call(I);
    All.push_back(
        {Functions[I].Name, std::move(Returned), Functions[I].Skipped});
  }
  if (Left == 0)
    All.clear(); // the limit was reached, so the rest is missing
  return All;
}

std::vector<PythonFunction> readPython(SourceText Text) {
  return PythonReader(Text).run();
}

ForeignValue readPythonExpression(StringRef Text) {
  return PythonReader(SourceText({}, Text)).expression();
}

const PythonFunction *
chooseFunction(ArrayRef<PythonFunction> All, StringRef Wanted,
               function_ref<bool(const ForeignValue &)> IsConfiguration,
               StringRef Tool, SourceText Text, DiagnosticEngine &Diags) {
  std::vector<const PythonFunction *> Known;
  std::vector<std::string> Names;
  for (const PythonFunction &F : All) {
    const bool IsOne = IsConfiguration(F.Returned);
    if (!Wanted.empty() && F.Name.Text == Wanted) {
      if (!IsOne)
        Diags.report(F.Name.Range, diag::ImportSyntax,
                     "the function returns no configuration that can be read");
      return IsOne ? &F : nullptr;
    }
    if (IsOne) {
      Known.push_back(&F);
      Names.push_back(F.Name.Text);
    }
  }
  if (Known.size() == 1 && Wanted.empty())
    return Known.front();
  if (Known.empty())
    Diags.report(
        Text.range(0, 0), diag::ImportSyntax,
        ("no function in it returns a configuration of " + Tool).str());
  else
    Diags.report(Text.range(0, 0), diag::ImportFunction, join(Names, ", "));
  return nullptr;
}

} // namespace foretrace::importers
