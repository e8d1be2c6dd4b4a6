// SPDX-License-Identifier: Apache-2.0
#include "tools/diff/Causes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::diff;

/// Keys by their places in a list.
using KeySet = llvm::SmallBitVector;

namespace {

/// Which keys the expressions of answers follow from.
class Leaves {
public:
  /// \p Of is what the key of each place is here, if it is one of sizes.
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
    // What only follows here has causes of its own.
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

/// Lets one job have one key of the other one. Returns whether there is such a
/// job.
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

void diff::findCauses(std::vector<FigureChange> &Changes,
                      llvm::ArrayRef<KeyChange> Keys, const Answered &Before,
                      const Answered &After) {
  CauseFinder(Keys, Before, After).find(Changes);
}
