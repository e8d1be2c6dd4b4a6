// SPDX-License-Identifier: Apache-2.0
#include "passes/vary/Keys.h"
#include "ir/model/Spellings.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::vary;
using llvm::StringRef;

static bool haveSameBlocks(const ModelSpec &A, const ModelSpec &B) {
  return llvm::equal(
      A.Blocks, B.Blocks,
      [](const BlockSpec &L, const BlockSpec &R) { return L.Name == R.Name; });
}

bool vary::replaceKey(Spec &In, StringRef Path, const Spec &From) {
  if (Path == LayersPath) {
    In.Model.Layers = From.Model.Layers; // by the numbers of blocks
    return haveSameBlocks(In.Model, From.Model);
  }
  if (Path == BranchPath) {
    In.Model.Branch = From.Model.Branch;
    return haveSameBlocks(In.Model, From.Model);
  }
  if (Path == LayoutPath) {
    In.Parallel.Layout = From.Parallel.Layout;
    return true;
  }
  if (Path == StepsPath)
    Path = SchedulePath;
  if (Path == SchedulePath)
    In.Parallel.Steps = From.Parallel.Steps;
  bool IsDone = false;
  visitPaths(In, [&](const std::string &Of, Key, const FieldRow &, auto &F) {
    if (Of != Path)
      return;
    visitPaths(From, [&](const std::string &Other, Key, const FieldRow &,
                         const auto &Value) {
      if constexpr (std::is_same_v<std::decay_t<decltype(F)>,
                                   std::decay_t<decltype(Value)>>)
        if (Other == Path) {
          F = Value;
          IsDone = true;
        }
    });
  });
  return IsDone;
}

/// Visits a word of a layer as its index.
template <typename VisitT>
static void visitWord(const FieldRow &Row, Located<std::string> &F,
                      VisitT Visit) {
  const auto Is = llvm::find(Row.Words, *F) - Row.Words.begin();
  if (Is == static_cast<ptrdiff_t>(Row.Words.size()))
    return; // of a layer whose words have changed
  Located<int64_t> Index;
  Index.state(Is, F.Range);
  Visit(pathOf(Row), Index, 0, Row.Words);
  if (*Index != Is)
    F.state(Row.Words[static_cast<size_t>(*Index)].str(), F.Range);
}

/// Visits the fields that have a ValueKey, the least value of each, and its
/// words if it is an index of some.
template <typename VisitT> static void visitValues(Spec &S, VisitT Visit) {
  using Words = llvm::ArrayRef<StringRef>;
  auto Pass = [&](const FieldRow &Row, auto &F) {
    if (!F.isPresent())
      return;
    if constexpr (!std::is_same_v<decltype(F), Located<std::string> &>) {
      Visit(pathOf(Row), F, Row.Type == "Int" ? 1 : 0, Words());
    } else if (!Row.Words.empty()) {
      visitWord(Row, F, Visit);
    }
  };
  visitJob(S, Pass);
  for (BlockSpec &B : S.Model.Blocks)
    visitBlock(B, Pass);
  for (LayerRun &R : S.Model.Layers) {
    int64_t &Count = R.Periods == 1 ? R.Items.front().Count : R.Periods;
    Located<int64_t> Layers;
    Layers.state(Count, R.Range);
    Visit(LayersPath, Layers, 1, Words());
    Count = *Layers;
  }
}

template <typename T>
static ValueKey keyOf(StringRef Name, const Located<T> &F, int64_t Least,
                      llvm::ArrayRef<StringRef> Words) {
  if (!Words.empty())
    return {Name.str(),
            F.Range,
            static_cast<int64_t>(*F),
            [Words](int64_t I) { return Words[static_cast<size_t>(I)].str(); },
            false,
            0,
            static_cast<int64_t>(Words.size()) - 1};
  ValueKey K{Name.str(),
             F.Range,
             static_cast<int64_t>(*F),
             [](int64_t Value) { return spell(static_cast<T>(Value)); },
             std::is_same_v<T, int64_t>,
             Least,
             INT64_MAX};
  if constexpr (std::is_same_v<T, bool>)
    K.Most = 1;
  else if constexpr (std::is_enum_v<T>)
    K.Most = static_cast<int64_t>(getSpellings<T>().size()) - 1;
  return K;
}

static bool isSame(const ValueKey &A, const ValueKey &B) {
  return A.Name == B.Name && A.Range.start() == B.Range.start() &&
         A.Value == B.Value;
}

std::vector<ValueKey> vary::valueKeysOf(const Spec &S) {
  std::vector<ValueKey> Keys;
  std::set<std::tuple<std::string, SourceLocation, int64_t>> Seen;
  Spec Copy = S;
  visitValues(Copy, [&](StringRef Name, auto &F, int64_t Least, auto Words) {
    const ValueKey K = keyOf(Name, F, Least, Words);
    if (Seen.insert({K.Name, K.Range.start(), K.Value}).second)
      Keys.push_back(K);
  });
  return Keys;
}

std::set<int64_t> vary::othersOf(const ValueKey &K,
                                 const std::set<int64_t> &Numbers) {
  constexpr int64_t MaxFactor = 64;
  std::set<int64_t> Values;
  if (!K.IsNumber) {
    for (int64_t Value = K.Least; Value <= K.Most; ++Value)
      Values.insert(Value);
  } else if (K.Value <= INT64_MAX / MaxFactor) {
    Values = {K.Value - 1, K.Value + 1};
    for (int64_t Factor = 2; Factor <= MaxFactor; Factor *= 2) {
      Values.insert(K.Value * Factor);
      Values.insert(K.Value / Factor);
    }
    for (int64_t N : Numbers)
      if (N / MaxFactor <= K.Value && K.Value / MaxFactor <= N)
        Values.insert(N);
    Values.erase(Values.begin(), Values.lower_bound(K.Least));
  }
  Values.erase(K.Value);
  return Values;
}

void vary::setValue(Spec &S, const ValueKey &K, int64_t Value) {
  visitValues(S, [&](StringRef Name, auto &F, int64_t Least, auto Words) {
    if (isSame(K, keyOf(Name, F, Least, Words)))
      F.state(static_cast<std::decay_t<decltype(*F)>>(Value), F.Range);
  });
}
