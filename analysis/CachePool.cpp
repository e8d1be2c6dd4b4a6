// SPDX-License-Identifier: Apache-2.0
#include "analysis/CachePool.h"
#include "analysis/LayerCounts.h"
#include "analysis/Liveness.h"
#include "analysis/Partition.h"
#include "ir/model/OpKinds.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

std::vector<LayerCache> foretrace::cachesOf(ExprScope P) {
  std::vector<LayerCache> All;
  for (const auto &[Index, B] : llvm::enumerate(P->Blocks)) {
    const Expr None = numberOf(P, 0);
    LayerCache Of{static_cast<unsigned>(Index), 0, None, None};
    bool Keeps = false;
    for (const Op &O : B.Ops) {
      if (O.Kind != OpKind::Cache)
        continue;
      Keeps = true;
      const Value &V = B.Values[O.Results.front()];
      const Expr Size = bytesOnRank(P, V);
      if (V.Type.indexOf(DimKind::Context) < 0) {
        Of.OfSequence = Of.OfSequence + Size;
        continue;
      }
      // One sample of as many tokens as a sequence can have.
      Of.OfToken = Of.OfToken + Size / exprOf(P, P->Spec.Serve->MaxLength);
      if (O.Stated.isValid())
        Of.Limit = P.at(O.Stated).value();
    }
    if (Keeps)
      All.push_back(Of);
  }
  return All;
}

StageCache foretrace::cacheOf(ExprScope P, const Stage &S) {
  StageCache Sum{numberOf(P, 0), numberOf(P, 0), numberOf(P, 0)};
  const LayerCounts Counts = layersByBlock(S);
  for (const LayerCache &Of : cachesOf(P)) {
    const int64_t Count = Counts.lookup(Of.Block);
    if (Count == 0)
      continue;
    const Expr Layers = ofStage(P, S, KeyId::StageLayers, Of.Block, Count);
    Expr &Tokens = Of.Limit == 0 ? Sum.OfToken : Sum.OfLimited;
    Tokens = Tokens + Layers * Of.OfToken;
    Sum.OfSequence = Sum.OfSequence + Layers * Of.OfSequence;
  }
  return Sum;
}

namespace {

/// Layers whose blocks an engine manages alike.
struct CacheGroup {
  int64_t Limit;   ///< 0: all tokens
  int64_t OfToken; ///< bytes of one layer; 0 of states
  int64_t States;  ///< bytes of one layer
  int64_t Layers;
};

} // namespace

static std::vector<CacheGroup> groupsOf(ExprScope P, const Stage &S) {
  std::vector<CacheGroup> Groups;
  const bool IsHybrid = *P->Spec.Serve->HybridCache;
  const LayerCounts Layers = layersByBlock(S);
  auto Add = [&](CacheGroup New) {
    for (CacheGroup &Old : Groups)
      if (Old.Limit == New.Limit && Old.OfToken == New.OfToken &&
          Old.States == New.States) {
        Old.Layers += New.Layers;
        return;
      }
    Groups.push_back(New);
  };
  for (const LayerCache &Of : cachesOf(P)) {
    const int64_t Count = Layers.lookup(Of.Block);
    if (Count == 0)
      continue;
    if (const int64_t Tokens = Of.OfToken.value())
      Add({IsHybrid ? Of.Limit : 0, Tokens, 0, Count});
    if (const int64_t States = Of.OfSequence.value())
      Add({0, 0, States, Count});
  }
  return Groups;
}

/// vLLM, v1/core/kv_cache_utils.py: equal pages for all layers. Pages of layers
/// that keep tokens grow by larger blocks, those of states are padded.
static void setPages(ExprScope P, llvm::ArrayRef<CacheGroup> Groups,
                     CachePool &Pool) {
  constexpr int64_t BlockMultiple = 16;
  int64_t MostOfToken = 0, States = 0;
  for (const CacheGroup &G : Groups) {
    MostOfToken = std::max(MostOfToken, G.OfToken);
    States = std::max(States, G.States);
  }
  Pool.Block = *P->Spec.Serve->Block;
  if (States > 0 && MostOfToken > 0)
    Pool.Block = std::max<int64_t>(
        Pool.Block, llvm::divideCeil(States, BlockMultiple * MostOfToken) *
                        BlockMultiple);
  Pool.Page = std::max(Pool.Block * MostOfToken, States);
}

/// How many layers have a table of blocks in common.
static int64_t groupSize(llvm::ArrayRef<CacheGroup> Groups) {
  int64_t Least = INT64_MAX, Most = 0;
  for (const CacheGroup &G : Groups) {
    Least = std::min(Least, G.Layers);
    Most = std::max(Most, G.Layers);
  }
  return 2 * Most < 3 * Least ? Most : Least;
}

/// Bytes of the sampler of vLLM for each logit of a step (v1/sample/sampler.py:
/// the logits in fp32, sorted copies, indices and masks).
constexpr int64_t SamplerBytes = 41;

/// What a step of as many tokens as there can be needs: the widest layer, or
/// the sampler, which is on every rank (vLLM, v1/worker/gpu_worker.py,
/// determine_available_memory, runs such a step).
static int64_t stepBytes(ExprScope P, const Stage &S) {
  const ServeSpec &V = *P->Spec.Serve;
  int64_t Most = *V.Engine == EngineKind::VLLM
                     ? *V.MaxSequences * *P->Spec.Model.PaddedVocab *
                           SamplerBytes
                     : 0;
  for (const auto &[Index, Layers] : layersByBlock(S))
    Most = std::max(Most, Liveness(P, P->Blocks[BlockId(Index)])
                              .most(Phase::Forward)
                              .Live.value());
  return Most;
}

CachePool foretrace::poolOf(ExprScope P, const Stage &S, int64_t Memory) {
  constexpr int64_t Whole = 1'000'000; // of a fraction
  const ServeSpec &V = *P->Spec.Serve;
  CachePool Pool = {};
  Pool.Resident = P.at(S.Totals.Weights).value();
  Pool.Step = stepBytes(P, S);
  const auto Of = [&](int64_t Bytes) {
    return static_cast<int64_t>(static_cast<__int128>(Bytes) *
                                *V.MemoryFraction / Whole);
  };
  const int64_t Used = Pool.Resident + Pool.Step;
  Pool.Room = std::max<int64_t>(0, *V.Engine == EngineKind::TensorRTLLM
                                       ? Of(Memory - Used)
                                       : Of(Memory) - Used);
  const std::vector<CacheGroup> Groups = groupsOf(P, S);
  if (Groups.empty())
    return Pool;
  setPages(P, Groups, Pool);
  int64_t Sum = 0; // bytes of a token of layers that keep all tokens
  bool IsAlike = true;
  for (const CacheGroup &G : Groups) {
    Sum += G.OfToken * G.Layers;
    IsAlike &= G.Limit == 0 && G.States == 0;
  }
  if (IsAlike) {
    Pool.Groups = 1;
    Pool.Page = Pool.Block * Sum;
    Pool.Blocks = Pool.Room / Pool.Page;
    return Pool;
  }
  const int64_t Size = groupSize(Groups);
  for (const CacheGroup &G : Groups)
    Pool.Groups += llvm::divideCeil(G.Layers, Size);
  Pool.Page *= Size;
  Pool.Blocks = Pool.Room / Pool.Page;
  return Pool;
}

int64_t foretrace::blocksOf(ExprScope P, const Stage &S, const CachePool &Pool,
                            int64_t Tokens) {
  const ServeSpec &V = *P->Spec.Serve;
  const std::vector<CacheGroup> Groups = groupsOf(P, S);
  if (Pool.Groups <= 1)
    return llvm::divideCeil(Tokens, Pool.Block);
  const int64_t Size = groupSize(Groups);
  int64_t Sum = 0;
  for (const CacheGroup &G : Groups) {
    const int64_t Tables = llvm::divideCeil(G.Layers, Size);
    // A step may add as many tokens before the window moves on.
    const int64_t Kept =
        G.Limit == 0 ? Tokens
                     : std::min(G.Limit - 1 + *V.MaxBatchTokens, Tokens);
    const int64_t Each =
        G.OfToken == 0 ? 1 + int64_t(*V.PrefixCaching)
                       : llvm::divideCeil(Kept, Pool.Page / Size / G.OfToken) +
                             int64_t(G.Limit != 0);
    Sum += Tables * Each;
  }
  return Sum;
}
