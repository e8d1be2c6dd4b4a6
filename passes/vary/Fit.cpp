// SPDX-License-Identifier: Apache-2.0
#include "passes/vary/Fit.h"
#include "analysis/Caveats.h"
#include "analysis/Figures.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::vary;

/// Legal jobs that are compiled in one search; to refuse one takes no time.
static constexpr unsigned MaxTrials = 128;
/// Pairs that are proposed.
static constexpr size_t MaxPairs = 8;

namespace {

/// Changes of different keys that are made together.
using Combination = llvm::SmallVector<Change, 2>;

/// The steps of one move; each is more of it than the one before.
struct Series {
  const Move *Of;
  std::vector<Change> Steps;
  llvm::SmallVector<llvm::StringRef, 8> Parts; ///< of the only step, if any
};

class FitSearch {
public:
  FitSearch(const Spec &Stated, const Load &Now, int64_t Room, Trial Try)
      : Stated(Stated), Now(Now), Room(Room), Try(Try) {}

  std::vector<Proposal> run(const Spec &Derived);

private:
  std::optional<Load> load(const Combination &C);
  bool fits(const Combination &C) {
    const std::optional<Load> L = load(C);
    return L && L->peak() <= Room;
  }
  void collect(const Spec &Derived);
  Series listParts(const Move &M);
  std::optional<Change> listOf(const Move &M,
                               llvm::ArrayRef<llvm::StringRef> Parts) const;
  std::optional<Combination> findOne(const Series &S);
  std::optional<Combination> findPair(const Series &A, const Series &B);
  std::optional<Load> loadOfPair(const Series &A, size_t I, const Series &B,
                                 size_t J);
  bool isHopeless(const Change &A, const Change &B);
  bool mayFit(const Series &A, const Series &B);
  void shorten(Combination &C, size_t At, const Series &Of);
  void propose(const Combination &C);

  const Spec &Stated;
  const Load &Now;
  const int64_t Room;
  const Trial Try;
  std::vector<Series> All; ///< by price
  std::vector<Proposal> Found;
  llvm::StringMap<std::optional<Load>> Known; ///< by keys
  unsigned Compiled = 0;
};

} // namespace

int64_t Load::peak() const { return *llvm::max_element(Peaks); }

Load vary::loadOf(const Program &Of) {
  ExprOverlay P(Of);
  JobFigures Figures(P, Validity::ThisJob);
  StageMemories &Memories = Figures.memories();
  Load L;
  for (int64_t Stage = 0; Stage < Of.Schedule.Stages; ++Stage) {
    const std::optional<StageMemory> M = Memories.of(Stage);
    L.Peaks.push_back(M ? M->Peak.value() : INT64_MAX);
  }
  auto Value = [&](FigureId Id) {
    const std::optional<Expr> F = Figures.of(Id);
    return F && F->hasValue() ? F->value() : INT64_MAX;
  };
  L.Work = Value(FigureId::Work);
  L.Messages = Value(FigureId::Messages);
  L.Host = hostTraffic(Of).value_or(INT64_MAX);
  return L;
}

static KeyTexts keysOf(const Combination &C) {
  KeyTexts Keys;
  for (const Change &Each : C)
    Keys.append(Each.Keys.begin(), Each.Keys.end());
  return Keys;
}

std::optional<Load> FitSearch::load(const Combination &C) {
  const auto [It, IsNew] = Known.try_emplace(textOf(keysOf(C)));
  if (IsNew && Compiled < MaxTrials) {
    It->second = Try([&](Spec &S) {
      for (const Change &Each : C)
        Each.Apply(S);
    });
    Compiled += It->second.has_value();
  }
  return It->second;
}

std::optional<Change>
FitSearch::listOf(const Move &M, llvm::ArrayRef<llvm::StringRef> Parts) const {
  return makeChange(Stated, [&M, List = std::vector<llvm::StringRef>(Parts)](
                                Spec &S) { return M.Write(S, List); });
}

/// All parts that the job can have, in one list.
Series FitSearch::listParts(const Move &M) {
  Series S{&M, {}, {}};
  for (llvm::StringRef Part : M.Parts(Stated))
    if (const std::optional<Change> C = listOf(M, Part); C && load({*C}))
      S.Parts.push_back(Part);
  if (std::optional<Change> C = listOf(M, S.Parts))
    S.Steps.push_back(std::move(*C));
  return S;
}

void FitSearch::collect(const Spec &Derived) {
  for (const Move &M : allMoves()) {
    if (M.Of == Price::None)
      continue;
    Series S =
        M.Parts ? listParts(M) : Series{&M, stepsOf(M, Stated, Derived), {}};
    if (!S.Steps.empty())
      All.push_back(std::move(S));
  }
  llvm::stable_sort(All, [](const Series &A, const Series &B) {
    return A.Of->Of < B.Of->Of;
  });
}

/// Takes parts out of a list that does not need them, first the one without
/// which there is least to compute.
void FitSearch::shorten(Combination &C, size_t At, const Series &Of) {
  llvm::SmallVector<llvm::StringRef, 8> Parts = Of.Parts;
  auto Without = [&](llvm::StringRef Part) -> std::optional<Combination> {
    llvm::SmallVector<llvm::StringRef, 8> Others = Parts;
    llvm::erase(Others, Part);
    std::optional<Change> List = listOf(*Of.Of, Others);
    if (!List)
      return std::nullopt;
    Combination Shorter = C;
    Shorter[At] = std::move(*List);
    return fits(Shorter) ? std::optional(Shorter) : std::nullopt;
  };
  llvm::SmallVector<std::pair<int64_t, llvm::StringRef>, 8> Order;
  for (llvm::StringRef Part : Parts)
    if (const std::optional<Combination> Shorter = Without(Part))
      Order.emplace_back(load(*Shorter)->Work, Part);
  llvm::stable_sort(Order, llvm::less_first());
  for (const auto &[Work, Part] : Order)
    if (std::optional<Combination> Shorter = Without(Part)) {
      C = std::move(*Shorter);
      llvm::erase(Parts, Part);
    }
}

std::optional<Combination> FitSearch::findOne(const Series &S) {
  for (const Change &Step : S.Steps)
    if (Combination C = {Step}; fits(C)) {
      shorten(C, 0, S);
      return C;
    }
  return std::nullopt;
}

/// Numbers that are illegal alone are hardly ever legal with another number, as
/// they can be with what is no number.
std::optional<Load> FitSearch::loadOfPair(const Series &A, size_t I,
                                          const Series &B, size_t J) {
  const Change &First = A.Steps[I], &Second = B.Steps[J];
  if (A.Of->Find && B.Of->Find && (!load({First}) || !load({Second})))
    return std::nullopt;
  return load({First, Second});
}

/// Whether a stage has more than the room even if both changes save together
/// what they save alone.
bool FitSearch::isHopeless(const Change &A, const Change &B) {
  const std::optional<Load> First = load({A}), Second = load({B});
  if (!First || !Second || First->Peaks.size() != Now.Peaks.size() ||
      Second->Peaks.size() != Now.Peaks.size())
    return false;
  return llvm::any_of(
      llvm::zip(First->Peaks, Second->Peaks, Now.Peaks), [&](const auto &Of) {
        const auto &[WithA, WithB, Without] = Of;
        return static_cast<__int128>(WithA) + WithB - Without > Room;
      });
}

/// Whether a pair of steps can do, as far as more of a move is never worse: by
/// the largest legal steps of one for each step of the other.
bool FitSearch::mayFit(const Series &A, const Series &B) {
  size_t Tried = 0; ///< steps of B that do not do with a larger one of A
  for (size_t I = A.Steps.size(); I-- > 0;)
    for (size_t J = B.Steps.size(); J-- > Tried;) {
      if (isHopeless(A.Steps[I], B.Steps[J]))
        continue;
      const std::optional<Load> L = loadOfPair(A, I, B, J);
      if (!L)
        continue;
      if (L->peak() <= Room)
        return true;
      Tried = J + 1;
    }
  return false;
}

/// That of the fewest steps.
std::optional<Combination> FitSearch::findPair(const Series &A,
                                               const Series &B) {
  if (A.Steps.front().isAgainst(B.Steps.front()) || !mayFit(A, B))
    return std::nullopt;
  const size_t Most = A.Steps.size() + B.Steps.size() - 2;
  for (size_t Steps = 0; Steps <= Most; ++Steps)
    for (size_t I = 0; I < A.Steps.size() && I <= Steps; ++I) {
      const size_t J = Steps - I;
      if (J >= B.Steps.size() || isHopeless(A.Steps[I], B.Steps[J]))
        continue;
      const std::optional<Load> L = loadOfPair(A, I, B, J);
      if (!L || L->peak() > Room)
        continue;
      Combination C = {A.Steps[I], B.Steps[J]};
      shorten(C, 0, A);
      shorten(C, 1, B);
      return C;
    }
  return std::nullopt;
}

void FitSearch::propose(const Combination &C) {
  Found.push_back({keysOf(C), *load(C)});
}

std::vector<Proposal> FitSearch::run(const Spec &Derived) {
  collect(Derived);
  for (const Series &S : All)
    if (const std::optional<Combination> C = findOne(S))
      propose(*C);
  if (!Found.empty())
    return std::move(Found);
  std::vector<std::pair<const Series *, const Series *>> Pairs;
  for (const Series &A : All)
    for (const Series &B : All)
      if (&A < &B)
        Pairs.emplace_back(&A, &B);
  auto PriceOf = [](const auto &Pair) {
    return static_cast<unsigned>(Pair.first->Of->Of) +
           static_cast<unsigned>(Pair.second->Of->Of);
  };
  llvm::stable_sort(Pairs, [&](const auto &A, const auto &B) {
    return PriceOf(A) < PriceOf(B);
  });
  for (const auto &[A, B] : Pairs) {
    if (Found.size() == MaxPairs)
      break;
    if (const std::optional<Combination> C = findPair(*A, *B))
      propose(*C);
  }
  return std::move(Found);
}

std::vector<Proposal> vary::changesThatFit(const Spec &Stated,
                                           const Spec &Derived, const Load &Now,
                                           int64_t Room, Trial Try) {
  return FitSearch(Stated, Now, Room, Try).run(Derived);
}
