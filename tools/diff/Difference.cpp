// SPDX-License-Identifier: Apache-2.0
#include "tools/diff/Difference.h"
#include "backends/figures/Answers.h"
#include "passes/vary/Keys.h"
#include "tools/diff/Causes.h"
#include "tools/diff/Summary.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::diff;

/// Wherever it is, and whatever its notes point at.
static bool isSame(const Diagnostic &A, const Diagnostic &B) {
  return A.Id == B.Id && A.Level == B.Level && A.Arguments == B.Arguments;
}

/// Those of \p Messages that \p Others has not.
static void addMessages(llvm::ArrayRef<Diagnostic> Messages,
                        llvm::ArrayRef<Diagnostic> Others, bool IsAfter,
                        std::vector<MessageChange> &To) {
  for (const Diagnostic &D : Messages)
    if (llvm::none_of(Others,
                      [&](const Diagnostic &O) { return isSame(D, O); }))
      To.push_back({IsAfter, &D});
}

/// All that is said of a program with these facts: what is compared of it here,
/// and the figures of every backend that has some; none of one that refuses.
static Answers allAnswersOf(const ir::Program &P, ir::FactSet Facts) {
  ir::ExprOverlay Sizes(P);
  JobFigures Shared(Sizes, Validity::ThisJob);
  Answers All;
  All.push_back(summarize(Shared, Facts));
  for (Answer &A : answersOf(Shared, Facts))
    All.push_back(A.Of ? std::move(*A.Of) : Figures{"", {}, {}, {}, {}});
  return All;
}

/// What is said of \p S, if it has the key at \p Path as \p From has it.
static std::optional<Answers> answersWith(const Side &S, llvm::StringRef Path,
                                          const Side &From, ir::FactSet Facts) {
  if (!S.Job || !From.Job)
    return std::nullopt;
  const std::unique_ptr<CompiledJob> Varied =
      S.Job->attempt([&](ir::Spec &Changed) {
        return vary::replaceKey(Changed, Path, *From.Job->spec());
      });
  const ir::Program *P = Varied ? Varied->program(Facts) : nullptr;
  if (!P)
    return std::nullopt;
  return allAnswersOf(*P, Facts);
}

static ir::FactSet common(ir::FactSet A, ir::FactSet B) {
  return A.minus(A.minus(B));
}

/// Whether there may be more in a program than what its keys say.
static bool isByHand(const Side &S) { return !S.Job; }

static bool isCause(const KeyChange &K) { return K.isCause(); }

static void comparePrograms(const Side &Before, const Side &After,
                            Difference &D) {
  const ir::FactSet Old = Before.Program->Facts, New = After.Program->Facts;
  const ir::FactSet Facts = common(Old, New);
  D.Before = allAnswersOf(*Before.Program, Facts);
  D.After = allAnswersOf(*After.Program, Facts);
  D.Changes = compareFigures(D.Before, D.After);
  if (D.Changes.empty() && (isByHand(Before) || isByHand(After)) &&
      Old.contains(New) && New.contains(Old)) {
    D.Before = {listText(*Before.Program)};
    D.After = {listText(*After.Program)};
    D.Changes = compareFigures(D.Before, D.After);
  }
  if (D.Changes.empty())
    return;
  // With one key alone the one job is the other.
  if (!isByHand(Before) && !isByHand(After) &&
      llvm::count_if(D.Keys, isCause) == 1) {
    for (FigureChange &C : D.Changes)
      C.By = {llvm::find_if(D.Keys, isCause)->path()};
    return;
  }
  auto VaryBefore = [&](llvm::StringRef Path) {
    return answersWith(Before, Path, After, Facts);
  };
  auto VaryAfter = [&](llvm::StringRef Path) {
    return answersWith(After, Path, Before, Facts);
  };
  findCauses(D.Changes, D.Keys, {D.Before, VaryBefore}, {D.After, VaryAfter});
}

std::unique_ptr<Difference> diff::compare(const Side &Before,
                                          const Side &After) {
  auto D = std::make_unique<Difference>();
  const bool AreWhole = Before.Program && After.Program;
  auto SpecOf = [&](const Side &S) -> const ir::Spec & {
    return AreWhole || !S.Job ? S.Spec : *S.Job->spec();
  };
  D->Keys = compareKeys(SpecOf(Before), SpecOf(After), AreWhole);
  addMessages(Before.Messages, After.Messages, false, D->Messages);
  addMessages(After.Messages, Before.Messages, true, D->Messages);
  if (AreWhole)
    comparePrograms(Before, After, *D);
  return D;
}
