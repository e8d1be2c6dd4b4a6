// SPDX-License-Identifier: Apache-2.0
#include "tools/diff/Difference.h"
#include "backends/figures/Answers.h"
#include "passes/vary/Keys.h"
#include "tools/diff/Changes.h"
#include "tools/diff/Keys.h"
#include "tools/diff/Summary.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace foretrace;
using namespace foretrace::diff;
using namespace foretrace::ir;

namespace {

/// The figures of a job.
struct Answered {
  const Answers &Of;
  /// Returns the figures of the job with the other job's value of the key at
  /// that path; nothing if such a job is refused or cannot be expressed.
  llvm::function_ref<std::optional<Answers>(llvm::StringRef)> Vary;
};

} // namespace

/// Keys by their places in a list.
using KeySet = llvm::SmallBitVector;

namespace {

/// Which keys the expressions of answers follow from.
class Leaves {
public:
  /// \p Of has the key of each place in this job, if it has a size.
  Leaves(const Answers &In, llvm::ArrayRef<std::optional<Key>> Of);

  KeySet of(unsigned Answer, const std::optional<Figure> &F) const;

private:
  void add(const ExprTable &Sizes, llvm::ArrayRef<std::optional<Key>> Of);

  std::vector<std::vector<KeySet>> ByExpr; ///< of each answer
  const unsigned Count;
};

/// Finds causes in one list of keys.
class CauseFinder {
public:
  CauseFinder(llvm::ArrayRef<KeyChange> Keys, const Answered &Before,
              const Answered &After);

  void find(std::vector<FigureChange> &Changes);

private:
  struct Side {
    const Answered &Of;
    FigureIndex Index;
    Leaves Keys;
  };
  using KeyOf = std::optional<KeyValue> KeyChange::*;
  std::vector<std::optional<Key>> idsOf(KeyOf Which) const;
  bool vary(const Side &S, unsigned Key, llvm::ArrayRef<FigureChange> Changes);

  std::vector<const KeyChange *> Stated; ///< by place
  const Side Before, After;
  std::vector<KeySet> Causes; ///< by change
};

} // namespace

Leaves::Leaves(const Answers &In, llvm::ArrayRef<std::optional<Key>> Of)
    : Count(static_cast<unsigned>(Of.size())) {
  for (const Figures &F : In)
    add(F.Sizes, Of);
}

void Leaves::add(const ExprTable &Sizes,
                 llvm::ArrayRef<std::optional<Key>> Of) {
  std::vector<KeySet> &Sets = ByExpr.emplace_back();
  Sets.reserve(Sizes.size());
  for (unsigned I = 0; I < Sizes.size(); ++I) { // operands come first
    const ExprNode &N = Sizes[ExprId(I)];
    KeySet &Keys = Sets.emplace_back(Count);
    if (N.Op == ExprOp::Constant)
      continue;
    if (N.Op == ExprOp::Key)
      for (unsigned K = 0; K < Count; ++K)
        if (Of[K] == N.Key)
          Keys.set(K);
    for (const ExprId From : {N.Left, N.Right})
      if (From.isValid())
        Keys |= Sets[From.Index];
  }
}

KeySet Leaves::of(unsigned Answer, const std::optional<Figure> &F) const {
  return F && F->From ? ByExpr[Answer][F->From->Index] : KeySet(Count);
}

static std::vector<const KeyChange *> causesOf(llvm::ArrayRef<KeyChange> Keys) {
  std::vector<const KeyChange *> Stated;
  for (const KeyChange &K : Keys)
    if (K.isCause())
      Stated.push_back(&K);
  return Stated;
}

std::vector<std::optional<Key>> CauseFinder::idsOf(KeyOf Which) const {
  std::vector<std::optional<Key>> Ids;
  for (const KeyChange *K : Stated) {
    const std::optional<KeyValue> &Here = K->*Which;
    // A value that is derived here has its own causes.
    Ids.push_back(Here && Here->Is != How::Derived ? Here->Id : std::nullopt);
  }
  return Ids;
}

CauseFinder::CauseFinder(llvm::ArrayRef<KeyChange> Keys, const Answered &Old,
                         const Answered &New)
    : Stated(causesOf(Keys)), Before{Old, FigureIndex(Old.Of),
                                     Leaves(Old.Of, idsOf(&KeyChange::Before))},
      After{New, FigureIndex(New.Of),
            Leaves(New.Of, idsOf(&KeyChange::After))} {}

/// Tries a job with one key of the other one. Returns whether it is legal.
bool CauseFinder::vary(const Side &S, unsigned Key,
                       llvm::ArrayRef<FigureChange> Changes) {
  const std::optional<Answers> Varied = S.Of.Vary(Stated[Key]->path());
  if (!Varied)
    return false;
  const FigureIndex Index(*Varied);
  for (const auto &[C, Cause] : llvm::zip_equal(Changes, Causes)) {
    const Figure *Was = S.Index.find(C.Name), *Is = Index.find(C.Name);
    if (Was && Is ? Was->Value != Is->Value : Was != Is)
      Cause.set(Key);
  }
  return true;
}

void CauseFinder::find(std::vector<FigureChange> &Changes) {
  for (const FigureChange &C : Changes)
    Causes.push_back(Before.Keys.of(C.Name.Answer, C.Before) |=
                     After.Keys.of(C.Name.Answer, C.After));
  // Keys that make no legal job alone: in neither job, or in one of them.
  KeySet Unknown(static_cast<unsigned>(Stated.size()));
  KeySet HalfKnown = Unknown;
  for (unsigned I = 0; I < Stated.size(); ++I) {
    const bool IsKnownBefore = vary(Before, I, Changes);
    const bool IsKnownAfter = vary(After, I, Changes);
    if (!IsKnownBefore && !IsKnownAfter)
      Unknown.set(I);
    else if (!IsKnownBefore || !IsKnownAfter)
      HalfKnown.set(I);
  }
  const KeySet &Together = Unknown.any() ? Unknown : HalfKnown;
  for (const auto &[C, Cause] : llvm::zip_equal(Changes, Causes)) {
    C.IsByAll = Cause.none() && Together.any();
    for (const unsigned I : (C.IsByAll ? Together : Cause).set_bits())
      C.By.push_back(Stated[I]->path());
  }
}

/// Sets FigureChange::By. A key is the cause of a difference if * the
/// expression of one side has it, or follows from it by definitions, or * one
/// job with this key of the other one differs there. Where no key is a cause,
/// all keys are that can't be told apart that way.
static void findCauses(std::vector<FigureChange> &Changes,
                       llvm::ArrayRef<KeyChange> Keys, const Answered &Before,
                       const Answered &After) {
  CauseFinder(Keys, Before, After).find(Changes);
}

/// Compares without positions and notes.
static bool isSame(const Diagnostic &A, const Diagnostic &B) {
  return A.Id == B.Id && A.Level == B.Level && A.Arguments == B.Arguments;
}

/// Adds the diagnostics of \p Messages that are not in \p Others.
static void addMessages(llvm::ArrayRef<Diagnostic> Messages,
                        llvm::ArrayRef<Diagnostic> Others, bool IsAfter,
                        std::vector<MessageChange> &To) {
  for (const Diagnostic &D : Messages)
    if (llvm::none_of(Others,
                      [&](const Diagnostic &O) { return isSame(D, O); }))
      To.push_back({IsAfter, &D});
}

/// Returns the job \p Of with its largest step; null if it does not serve.
static std::unique_ptr<CompiledJob> largestOf(const CompiledJob *Of) {
  if (!Of || !Of->spec()->Serve)
    return nullptr;
  return Of->attempt([](ir::Spec &S) {
    S.Serve->Step.derive(StepKind::Largest, S.Serve->Range);
    return true;
  });
}

/// Returns the figures of a program with these facts: those compared here, and
/// those of every backend that has some; none of a backend that refuses. \p
/// Largest may be null.
static Answers allAnswersOf(const ir::Program &P, CompiledJob *Largest,
                            ir::FactSet Facts) {
  ir::ExprOverlay Sizes(P);
  JobFigures Shared(Sizes, Validity::ThisJob);
  Answers All;
  All.push_back(summarize(Shared, Facts));
  for (Answer &A :
       answersOf(Shared, Facts, Largest ? Largest->program(Facts) : nullptr))
    All.push_back(A.Of ? std::move(*A.Of) : Figures{"", {}, {}, {}, {}});
  return All;
}

/// Returns the figures of \p S with the key at \p Path set as in \p From.
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
  return allAnswersOf(*P, largestOf(Varied.get()).get(), Facts);
}

static ir::FactSet common(ir::FactSet A, ir::FactSet B) {
  return A.minus(A.minus(B));
}

/// Returns whether a program may differ from what its keys imply.
static bool isByHand(const Side &S) { return !S.Job; }

static bool isCause(const KeyChange &K) { return K.isCause(); }

static void comparePrograms(const Side &Before, const Side &After,
                            Difference &D) {
  const ir::FactSet Old = Before.Program->Facts, New = After.Program->Facts;
  const ir::FactSet Facts = common(Old, New);
  D.LargestBefore = largestOf(Before.Job);
  D.LargestAfter = largestOf(After.Job);
  D.Before = allAnswersOf(*Before.Program, D.LargestBefore.get(), Facts);
  D.After = allAnswersOf(*After.Program, D.LargestAfter.get(), Facts);
  D.Changes = compareFigures(D.Before, D.After);
  if (D.Changes.empty() && (isByHand(Before) || isByHand(After)) &&
      Old.contains(New) && New.contains(Old)) {
    D.Before = {listText(*Before.Program)};
    D.After = {listText(*After.Program)};
    D.Changes = compareFigures(D.Before, D.After);
  }
  if (D.Changes.empty())
    return;
  // If one key alone differs, it is the cause of all.
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
