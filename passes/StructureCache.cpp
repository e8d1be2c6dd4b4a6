// SPDX-License-Identifier: Apache-2.0
#include "passes/StructureCache.h"
#include "ir/model/SpecFields.h"
#include "ir/model/SpecKeys.h"
#include "passes/Structure.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// Writes bytes that are equal if all that decides the structure is equal.
class KeyWriter {
public:
  template <typename... Ts> void add(const Ts &...Of) { (put(Of), ...); }
  /// Numbers of a spec are leaves: which are there is all that counts.
  void operator()(const FieldRow &, const Located<int64_t> &F) {
    put(F.isPresent());
  }
  template <typename T> void operator()(const FieldRow &, const Located<T> &F) {
    add(F.isPresent(), F.Value);
  }

  std::string Bytes;

private:
  template <typename T> void put(const T &Of) {
    static_assert(std::is_scalar_v<T>);
    Bytes.append(reinterpret_cast<const char *>(&Of), sizeof(T));
  }
  void put(const std::string &Text) {
    put(Text.size());
    Bytes += Text;
  }
  void put(SourceRange R) { add(R.File, R.Begin, R.End); }
  void put(ExprId E) { put(E.Index); }
};

} // namespace

/// Ops refer to the sections that they were made for, so the place of a block
/// is part of the key.
static void addBlock(const BlockSpec &B, KeyWriter &Key) {
  Key.add(B.Name, B.Range, B.IsEntry);
  for (const std::vector<std::string> *Names :
       {&B.Receives, &B.Passes, &B.Shares, &B.Aliases, &B.Copies, &B.Sums}) {
    Key.add(Names->size());
    for (const std::string &Name : *Names)
      Key.add(Name);
  }
  for (const LayerUse *Use : {&B.Mixer, &B.Network})
    Key.add(reinterpret_cast<uintptr_t>(Use->Is), Use->Range);
  visitBlock(B, [&](const FieldRow &Row, const auto &F) {
    Key(Row, F);
    Key.add(F.Range); // text can make a key the origin of ops
  });
}

static void addPattern(llvm::ArrayRef<LayerRun> Layers, KeyWriter &Key) {
  for (const LayerRun &R : Layers) {
    Key.add(R.Periods, R.Items.size());
    for (const LayerRun::Item &I : R.Items)
      Key.add(I.Block, I.Count);
  }
}

static void addModel(const ModelSpec &M, KeyWriter &Key) {
  Key.add(M.Vocab.Range, M.MaxPositions.Range, M.Blocks.size(),
          M.Layers.size());
  for (const BlockSpec &B : M.Blocks)
    addBlock(B, Key);
  addPattern(M.Layers, Key);
  if (!M.Branch)
    return;
  Key.add(M.Branch->Block, M.Branch->Layers.size());
  addPattern(M.Branch->Layers, Key);
}

/// Returns the input of the passes in \p P, which is derived, except the values
/// of numbers. The existing expressions are part of it, as ids refer to them.
static std::string keyOf(const Program &P) {
  KeyWriter Key;
  addModel(P.Spec.Model, Key);
  visitJob(P.Spec, Key);
  for (const Check &C : P.Checks)
    if (C.Is == Check::Kind::Decision)
      Key.add(C.Of, C.Decided);
  for (const ExprNode &N : P.Sizes) {
    Key.add(N.Op, N.Left, N.Right);
    if (N.Op == ExprOp::Key)
      Key.add(N.Key.Id, N.Key.Block, N.Key.Stage);
    else
      Key.add(N.Value);
  }
  return std::move(Key.Bytes);
}

std::vector<const PassInfo *> StructureCache::passes() {
  std::vector<const PassInfo *> Passes = pipelineFor({Fact::Totals});
  llvm::erase_if(Passes, [](const PassInfo *Pass) {
    return Pass->Establishes.contains(Fact::Complete);
  });
  return Passes;
}

bool StructureCache::complete(Program &P,
                              llvm::function_ref<bool(Program &)> Run) {
  const auto [Found, IsFirst] = Known.try_emplace(keyOf(P));
  std::optional<Program> &Kept = Found->second;
  if (!Kept) {
    if (!Run(P))
      return false;
    if (!IsFirst)
      Kept = P;
    return true;
  }
  const Program &Made = *Kept;
  P.Blocks = Made.Blocks;
  P.Layers = Made.Layers;
  P.Facts = Made.Facts;
  P.Sizes.extend(Made.Sizes,
                 [&](ir::Key K) { return findField(P.Spec, K)->Value; });
  return true;
}

/// Splits are kept by their numbers: only whether these are there counts.
static bool isAlike(const Located<int64_t> &A, const Located<int64_t> &B) {
  return A.isPresent() == B.isPresent();
}
template <typename T>
static bool isAlike(const Located<T> &A, const Located<T> &B) {
  return A.isPresent() == B.isPresent() && A.Value == B.Value;
}

bool foretrace::isSplitAlike(const Spec &A, const Spec &B) {
#define PARALLEL_FIELD(TYPE, MEMBER, ...)                                      \
  if (!isAlike(A.Parallel.MEMBER, B.Parallel.MEMBER))                          \
    return false;
#include "ir/model/Spec.def"
  auto AreAlike = [](const auto &X, const auto &Y, auto IsSame) {
    return X.size() == Y.size() &&
           llvm::all_of(llvm::zip(X, Y), [&](const auto &Pair) {
             return IsSame(std::get<0>(Pair), std::get<1>(Pair));
           });
  };
  auto AreRunsAlike = [&](const auto &X, const auto &Y) {
    return AreAlike(X, Y, [&](const LayerRun &R, const LayerRun &Q) {
      return R.Periods == Q.Periods &&
             AreAlike(R.Items, Q.Items, [](const auto &I, const auto &J) {
               return I.Block == J.Block && I.Count == J.Count;
             });
    });
  };
  auto IsSame = [](const auto &M, const auto &N) {
    return M.isPresent() == N.isPresent() && (!M.isPresent() || *M == *N);
  };
  // Some layers of a chunk are blocks of their own.
  const TrainSpec &X = A.Train, &Y = B.Train;
  if (!IsSame(X.RecomputeNumLayers, Y.RecomputeNumLayers) ||
      !IsSame(X.OffloadNumLayers, Y.OffloadNumLayers))
    return false;
  if (hasUnlikeLayers(X) &&
      (!IsSame(X.Recompute, Y.Recompute) ||
       !IsSame(X.OffloadActivations, Y.OffloadActivations) ||
       !AreAlike(A.Model.Blocks, B.Model.Blocks,
                 [&](const BlockSpec &K, const BlockSpec &L) {
                   return IsSame(K.Recompute, L.Recompute) &&
                          IsSame(K.OffloadActivations, L.OffloadActivations);
                 })))
    return false;
  const auto &Branch = A.Model.Branch, &Other = B.Model.Branch;
  return A.Parallel.Steps.empty() && B.Parallel.Steps.empty() &&
         A.Model.Blocks.size() == B.Model.Blocks.size() &&
         AreAlike(
             A.Parallel.Layout, B.Parallel.Layout,
             [](const auto &X, const auto &Y) { return X.Value == Y.Value; }) &&
         AreRunsAlike(A.Model.Layers, B.Model.Layers) &&
         Branch.has_value() == Other.has_value() &&
         (!Branch || AreRunsAlike(Branch->Layers, Other->Layers));
}
