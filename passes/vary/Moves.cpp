// SPDX-License-Identifier: Apache-2.0
#include "passes/vary/Moves.h"
#include "passes/Recompute.h"
#include "passes/vary/Numbers.h"
#include "passes/vary/Ways.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::vary;

#define SET(KEY, FIELD, VALUE)                                                 \
  [](Spec &S) {                                                                \
    KeyTexts W;                                                                \
    write(W, KEY, S.FIELD, VALUE);                                             \
    return W;                                                                  \
  }
#define WAYS(ENUMERATOR, PRICE, IS_OF_TIME, ...)                               \
  static constexpr Way WaysOf##ENUMERATOR[] = {__VA_ARGS__};
#include "passes/vary/Moves.def"

llvm::ArrayRef<Move> vary::allMoves() {
#define KEY(FIELD)                                                             \
  [](Spec &S, SourceRange) { return std::vector<KeyNumber *>{&S.FIELD}; }
#define NUMBER(ENUMERATOR, NAME, FIND, VALUES, STEPS, PRICE, IS_OF_TIME)       \
  {MoveId::ENUMERATOR, Price::PRICE, IS_OF_TIME, NAME, FIND, VALUES,           \
   Steps::STEPS},
#define WAYS(ENUMERATOR, PRICE, IS_OF_TIME, ...)                               \
  {MoveId::ENUMERATOR, Price::PRICE,      IS_OF_TIME, "", nullptr, nullptr,    \
   Steps::None,        WaysOf##ENUMERATOR},
#define PARTS(ENUMERATOR, PRICE, LIST, WRITE)                                  \
  {MoveId::ENUMERATOR, Price::PRICE, false, "",   nullptr, nullptr,            \
   Steps::None,        {},           LIST,  WRITE},
  static constexpr Move Rows[] = {
#include "passes/vary/Moves.def"
  };
#undef KEY
  return Rows;
}
#undef SET

const Move &vary::getMove(MoveId Id) {
  return allMoves()[static_cast<size_t>(Id)];
}

std::string vary::textOf(llvm::ArrayRef<KeyText> Keys) {
  std::string Text;
  for (const KeyText &K : Keys)
    Text += (Text.empty() ? "" : ", ") + (K.Key + " = " + K.Value).str();
  return Text;
}

bool Change::isAgainst(const Change &Other) const {
  return llvm::any_of(Keys, [&](const KeyText &K) {
    return llvm::any_of(Other.Keys,
                        [&](const KeyText &O) { return K.Key == O.Key; });
  });
}

std::optional<Change> vary::makeChange(const Spec &S,
                                       std::function<KeyTexts(Spec &)> Make) {
  Spec Changed = S;
  KeyTexts Keys = Make(Changed);
  if (Keys.empty())
    return std::nullopt;
  return Change{std::move(Keys), std::move(Make)};
}

static bool isStep(Steps By, int64_t Now, int64_t Value) {
  auto IsPowerOf = [](int64_t Large, int64_t Small) {
    return Large > Small && Large % Small == 0 &&
           llvm::isPowerOf2_64(static_cast<uint64_t>(Large / Small));
  };
  switch (By) {
  case Steps::None:
    return false;
  case Steps::Larger:
    return Value > Now;
  case Steps::Doubled:
    return IsPowerOf(Value, Now);
  case Steps::Halved:
    return IsPowerOf(Now, Value);
  }
  llvm_unreachable("every kind of step is handled");
}

/// The number that a job states or has a default for, and the values that it
/// may have, sorted; what follows is no decision.
static std::optional<int64_t> numberOf(const Move &M, const Spec &Stated,
                                       const Spec &Derived, Numbers &Values) {
  Spec Now = Stated;
  const std::vector<KeyNumber *> Held = M.Find(Now, {});
  if (Held.empty() || !Held.front()->isPresent())
    return std::nullopt;
  Values = M.List(Derived, *Held.front());
  llvm::sort(Values);
  Values.erase(llvm::unique(Values), Values.end());
  return **Held.front();
}

static Change changeOf(const Move &M, int64_t Value) {
  return {{{M.Key, std::to_string(Value)}}, [&M, Value](Spec &S) {
            for (KeyNumber *F : M.Find(S, {}))
              F->state(Value, F->Range);
          }};
}

static std::vector<Change> stepsOfNumber(const Move &M, const Spec &Stated,
                                         const Spec &Derived) {
  Numbers Values;
  const std::optional<int64_t> Was = numberOf(M, Stated, Derived, Values);
  if (!Was)
    return {};
  if (M.By == Steps::Halved)
    std::reverse(Values.begin(), Values.end());
  std::vector<Change> All;
  for (int64_t Value : Values)
    if (isStep(M.By, *Was, Value))
      All.push_back(changeOf(M, Value));
  return All;
}

/// The nearest of \p Values, in both directions.
static void addNeighbours(const Move &M, const Spec &Stated,
                          const Spec &Derived, std::vector<Change> &To) {
  Numbers Values;
  const std::optional<int64_t> Was = numberOf(M, Stated, Derived, Values);
  if (!Was)
    return;
  const auto *const Above = llvm::upper_bound(Values, *Was);
  if (Above != Values.end())
    To.push_back(changeOf(M, *Above));
  const auto *const Below = llvm::lower_bound(Values, *Was);
  if (Below != Values.begin())
    To.push_back(changeOf(M, *std::prev(Below)));
}

std::vector<Change> vary::changesOfTime(const Spec &Stated,
                                        const Spec &Derived) {
  std::vector<Change> All;
  for (const Move &M : allMoves()) {
    if (!M.IsOfTime)
      continue;
    if (M.Find)
      addNeighbours(M, Stated, Derived, All);
    for (Way W : M.Ways)
      if (std::optional<Change> C = makeChange(Stated, W))
        All.push_back(std::move(*C));
  }
  return All;
}

std::vector<Change> vary::stepsOf(const Move &M, const Spec &Stated,
                                  const Spec &Derived) {
  if (M.Find)
    return stepsOfNumber(M, Stated, Derived);
  std::vector<Change> All;
  for (Way W : M.Ways)
    if (std::optional<Change> C = makeChange(Stated, W))
      All.push_back(std::move(*C));
  return All;
}
