// SPDX-License-Identifier: Apache-2.0
//
// The judge of what RemedyNumbers.cpp and RemedyWays.cpp offer: a derivation of
// the changed job.
#include "passes/derive/Remedies.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Passes.h"
#include "passes/derive/Deriver.h"
#include "passes/derive/RemedyTables.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <optional>

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::remedies;

/// Changes that are tried for one job, however many errors it has.
static constexpr unsigned MaxTrials = 512;

namespace {

class Remedies {
public:
  Remedies(const Spec &Given, const Spec &Derived,
           std::vector<DiagnosticBuilder> Errors, const DiagnosticEngine &Diags)
      : Given(Given), Derived(Derived), Errors(std::move(Errors)),
        Diags(Diags) {
    this->Given.Emits.clear();
  }

  void note();

private:
  bool mends(const Diagnostic &Wrong, Spec Changed);
  void noteNumber(DiagnosticBuilder &Wrong, const NumberKey &Key);
  void noteWays(DiagnosticBuilder &Wrong);

  Spec Given, Derived;
  std::vector<DiagnosticBuilder> Errors;
  const DiagnosticEngine &Diags;
  unsigned Trials = 0;
};

} // namespace

static bool isSame(const Diagnostic &A, const Diagnostic &B) {
  return A.Id == B.Id && A.Range.start() == B.Range.start();
}

bool Remedies::mends(const Diagnostic &Wrong, Spec Changed) {
  if (++Trials > MaxTrials)
    return false;
  Program P;
  P.Spec = std::move(Changed);
  DiagnosticEngine Silent = Diags.cloneEmpty();
  Deriver(P, Silent).run();
  return llvm::all_of(Silent.diagnostics(), [&](const Diagnostic &D) {
    return D.Level != Severity::Error ||
           (!isSame(D, Wrong) &&
            llvm::any_of(Errors, [&](const DiagnosticBuilder &E) {
              return isSame(D, E.get());
            }));
  });
}

void Remedies::noteNumber(DiagnosticBuilder &Wrong, const NumberKey &Key) {
  const SourceRange At = Wrong.get().Range;
  std::vector<NumberKey::Field *> Fields = Key.Find(Derived, At);
  if (Fields.empty() || !Fields.front()->isPresent())
    return;
  const NumberKey::Field Now = *Fields.front();
  Values All = Key.List(Derived, Now);
  llvm::sort(All);
  auto Helps = [&](int64_t Value) {
    Spec Changed = Given;
    for (NumberKey::Field *F : Key.Find(Changed, At))
      F->state(Value, F->Range);
    return mends(Wrong.get(), std::move(Changed));
  };
  const auto *Above = llvm::upper_bound(All, *Now);
  llvm::ArrayRef<int64_t> Larger(Above, All.end());
  Values Smaller(All.begin(), llvm::lower_bound(All, *Now));
  std::reverse(Smaller.begin(), Smaller.end());
  std::string Text;
  for (llvm::ArrayRef<int64_t> Side :
       {llvm::ArrayRef<int64_t>(Smaller), Larger}) {
    Side = Side.take_front(MaxTried);
    const auto *Found = llvm::find_if(Side, Helps);
    if (Found != Side.end())
      Text += (Text.empty() ? "" : " or ") + std::to_string(*Found);
  }
  if (!Text.empty())
    Wrong.note(Now.isStated() ? Now.Range : At, diag::NearestLegal, Key.Name,
               Text);
}

void Remedies::noteWays(DiagnosticBuilder &Wrong) {
  std::vector<std::string> Found;
  std::optional<WayKind> Helped;
  for (const auto &[Kind, Mended, Change] : wayRows()) {
    if (Kind == Helped || !llvm::is_contained(Mended, Wrong.get().Id))
      continue;
    Spec Changed = Given;
    Way W = Change(Changed);
    if (W.Text.empty() || !mends(Wrong.get(), std::move(Changed)))
      continue;
    Helped = Kind;
    Found.push_back(std::move(W.Text));
  }
  if (!Found.empty())
    Wrong.note(Wrong.get().Range, diag::FitsWith,
               llvm::join(Found, "; or with "));
}

void Remedies::note() {
  if (Given.Model.Blocks.size() + Given.Parallel.Layout.size() > MaxParts)
    return;
  for (size_t I = 0; I != Errors.size(); ++I) {
    const Diagnostic Wrong = Errors[I].get();
    auto IsWrong = [&](const DiagnosticBuilder &E) {
      return isSame(E.get(), Wrong);
    };
    if (llvm::any_of(llvm::ArrayRef(Errors).take_front(I), IsWrong))
      continue; // blocks repeat what is wrong with a section they share
    for (const auto &[Id, Key] : numberRows())
      if (Id == Wrong.Id)
        noteNumber(Errors[I], Key);
    noteWays(Errors[I]);
  }
}

void foretrace::noteRemedies(const Spec &Given, const Spec &Derived,
                             std::vector<DiagnosticBuilder> Errors,
                             const DiagnosticEngine &Diags) {
  Remedies(Given, Derived, std::move(Errors), Diags).note();
}
