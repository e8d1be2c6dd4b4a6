// SPDX-License-Identifier: Apache-2.0
//
// The judge of the moves that passes/derive/Remedies.def has for an error: a
// derivation of the changed job.
#include "passes/derive/Remedies.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Passes.h"
#include "passes/derive/Deriver.h"
#include "passes/vary/Moves.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <optional>

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::vary;

/// Changes that are tried for one job, however many errors it has.
static constexpr unsigned MaxTrials = 512;
/// Number of values of a key that are tried on each side of the current one.
static constexpr size_t MaxTried = 16;

/// The moves that can mend errors of kind \p Wrong.
static llvm::ArrayRef<MoveId> movesFor(diag::Id Wrong) {
#define REMEDY(ERROR, ...)                                                     \
  if (Wrong == diag::ERROR) {                                                  \
    static constexpr MoveId Moves[] = {__VA_ARGS__};                           \
    return Moves;                                                              \
  }
#include "passes/derive/Remedies.def"
  return {};
}

namespace {

/// A change of the job that mends an error.
struct Offer {
  std::string Text;
  Spec Changed, Derived;
  /// The errors that the changed job still has.
  std::vector<Diagnostic> Left;
};

class Remedies {
public:
  Remedies(const Spec &Given, const Spec &Derived,
           std::vector<DiagnosticBuilder> Errors, DiagnosticEngine &Diags)
      : Given(Given), Derived(Derived), Errors(std::move(Errors)),
        Diags(Diags) {
    this->Given.Emits.clear();
    for (const DiagnosticBuilder &E : this->Errors)
      Open.push_back(E.get());
  }

  void note();

private:
  using Offers = std::vector<Offer>;

  std::optional<Offer> offer(const Diagnostic &Wrong, std::string Text,
                             const Spec &Changed);
  Offers findNumbers(const Diagnostic &Wrong, const Move &M);
  std::optional<Offer> findWay(const Diagnostic &Wrong, const Move &M);
  Offers mend(DiagnosticBuilder &Wrong);

  Spec Given, Derived; ///< with the first offers for the errors so far
  std::vector<DiagnosticBuilder> Errors;
  std::vector<Diagnostic> Open; ///< errors that Given still has
  DiagnosticEngine &Diags;
  unsigned Trials = 0;
};

} // namespace

static bool isSame(const Diagnostic &A, const Diagnostic &B) {
  return A.Id == B.Id && A.Range.start() == B.Range.start();
}

static bool isSame(llvm::ArrayRef<Diagnostic> A, llvm::ArrayRef<Diagnostic> B) {
  return A.size() == B.size() &&
         llvm::all_of(llvm::zip(A, B), [](const auto &Pair) {
           return isSame(std::get<0>(Pair), std::get<1>(Pair));
         });
}

static bool isAmong(const Diagnostic &D, llvm::ArrayRef<Diagnostic> Known) {
  return llvm::any_of(Known, [&](const Diagnostic &K) { return isSame(D, K); });
}

/// The job as \p Changed, unless that keeps the error or has a new one.
std::optional<Offer> Remedies::offer(const Diagnostic &Wrong, std::string Text,
                                     const Spec &Changed) {
  if (++Trials > MaxTrials)
    return std::nullopt;
  Program P;
  P.Spec = Changed;
  DiagnosticEngine Silent = Diags.cloneForTrial();
  Deriver(P, Silent).run();
  Offer O = {std::move(Text), Changed, std::move(P.Spec), {}};
  for (const Diagnostic &D : Silent.diagnostics()) {
    if (D.Level != Severity::Error)
      continue;
    if (isSame(D, Wrong) || !isAmong(D, Open))
      return std::nullopt;
    if (!isAmong(D, O.Left))
      O.Left.push_back(D);
  }
  return O;
}

/// Returns the nearest values below and above the current one, of those that
/// leave the fewest errors.
Remedies::Offers Remedies::findNumbers(const Diagnostic &Wrong, const Move &M) {
  const std::vector<KeyNumber *> Held = M.Find(Derived, Wrong.Range);
  if (Held.empty() || !Held.front()->isPresent())
    return {};
  const KeyNumber Now = *Held.front();
  Numbers All = M.List(Derived, Now);
  llvm::sort(All);
  const auto *Above = llvm::upper_bound(All, *Now);
  llvm::ArrayRef<int64_t> Larger(Above, All.end());
  Numbers Smaller(All.begin(), llvm::lower_bound(All, *Now));
  std::reverse(Smaller.begin(), Smaller.end());
  Offers Found;
  for (llvm::ArrayRef<int64_t> Side :
       {llvm::ArrayRef<int64_t>(Smaller), Larger}) {
    std::optional<Offer> Best;
    for (int64_t Value : Side.take_front(MaxTried)) {
      Spec Changed = Given;
      for (KeyNumber *F : M.Find(Changed, Wrong.Range))
        F->state(Value, F->Range);
      std::optional<Offer> O = offer(Wrong, std::to_string(Value), Changed);
      if (O && (!Best || O->Left.size() < Best->Left.size()))
        Best = std::move(O);
      if (Best && Best->Left.empty())
        break;
    }
    if (Best)
      Found.push_back(std::move(*Best));
  }
  return Found;
}

/// The first of \p M that helps.
std::optional<Offer> Remedies::findWay(const Diagnostic &Wrong, const Move &M) {
  for (Way W : M.Ways) {
    Spec Changed = Given;
    const KeyTexts Keys = W(Changed);
    if (Keys.empty())
      continue;
    std::string Text;
    for (const KeyText &K : Keys)
      Text += (Text.empty() ? "`" : " and `") +
              (K.Key + " = " + K.Value).str() + "`";
    if (std::optional<Offer> O = offer(Wrong, std::move(Text), Changed))
      return O;
  }
  return std::nullopt;
}

/// Adds what mends \p Wrong as notes. An offer that leaves errors which another
/// mends as well is none.
Remedies::Offers Remedies::mend(DiagnosticBuilder &Wrong) {
  const Diagnostic Error = Wrong.get();
  std::vector<std::pair<const Move *, Offers>> Found;
  Offers Ways;
  for (MoveId Id : movesFor(Error.Id))
    if (const Move &M = getMove(Id); M.Find)
      Found.emplace_back(&M, findNumbers(Error, M));
    else if (std::optional<Offer> O = findWay(Error, M))
      Ways.push_back(std::move(*O));
  Found.emplace_back(nullptr, std::move(Ways));
  const std::vector<Diagnostic> *Fewest = nullptr;
  for (const auto &[M, Some] : Found)
    for (const Offer &O : Some)
      if (!Fewest || O.Left.size() < Fewest->size())
        Fewest = &O.Left;
  if (!Fewest)
    return {};
  const std::vector<Diagnostic> Left = *Fewest;
  Offers All;
  for (auto &[M, Some] : Found) {
    llvm::SmallVector<std::string> Texts;
    for (Offer &O : Some)
      if (isSame(O.Left, Left)) {
        Texts.push_back(O.Text);
        All.push_back(std::move(O));
      }
    if (Texts.empty())
      continue;
    if (!M) {
      Wrong.note(Error.Range, diag::FitsWith, llvm::join(Texts, "; or with "));
      continue;
    }
    const KeyNumber Now = *M->Find(Derived, Error.Range).front();
    Wrong.note(Now.isStated() ? Now.Range : Error.Range, diag::NearestLegal,
               M->Key, llvm::join(Texts, " or "));
  }
  return All;
}

void Remedies::note() {
  if (Given.Model.Blocks.size() + Given.Parallel.Layout.size() > MaxParts)
    return;
  std::vector<DiagnosticBuilder> Following;
  for (DiagnosticBuilder &E : Errors) {
    if (!isAmong(E.get(), Open)) {
      Following.push_back(E);
      continue;
    }
    Offers Found = mend(E);
    if (Found.empty())
      continue;
    Given = std::move(Found.front().Changed);
    Derived = std::move(Found.front().Derived);
    Open = std::move(Found.front().Left);
  }
  Diags.withdraw(Following);
}

void foretrace::noteRemedies(const Spec &Given, const Spec &Derived,
                             std::vector<DiagnosticBuilder> Errors,
                             DiagnosticEngine &Diags) {
  Remedies(Given, Derived, std::move(Errors), Diags).note();
}
