// SPDX-License-Identifier: Apache-2.0
#include "analysis/CachePool.h"
#include "analysis/Analyses.h"
#include "analysis/LayerCounts.h"
#include "analysis/Liveness.h"
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

/// Layers of the model whose blocks an engine manages alike.
struct CacheGroup {
  int64_t Limit;   ///< 0: all tokens
  int64_t OfToken; ///< bytes of one layer; 0 of states
  int64_t States;  ///< bytes of one layer
  int64_t Layers;
  int64_t OnStage = 0; ///< how many of them a stage has
};

} // namespace

/// Returns the groups of the model, with their layers on \p S.
static std::vector<CacheGroup> groupsOf(ExprScope P, const Stage &S) {
  std::vector<CacheGroup> Groups;
  const bool IsHybrid = *P->Spec.Serve->HybridCache;
  LayerCounts All;
  addLayers(P->Layers, 1, All);
  const LayerCounts OfStage = layersByBlock(S);
  auto Add = [&](CacheGroup New) {
    for (CacheGroup &Old : Groups)
      if (Old.Limit == New.Limit && Old.OfToken == New.OfToken &&
          Old.States == New.States) {
        Old.Layers += New.Layers;
        Old.OnStage += New.OnStage;
        return;
      }
    Groups.push_back(New);
  };
  for (const LayerCache &Of : cachesOf(P)) {
    const int64_t Layers = All.lookup(Of.Block),
                  OnStage = OfStage.lookup(Of.Block);
    if (Layers == 0)
      continue;
    if (const int64_t Tokens = Of.OfToken.value())
      Add({IsHybrid ? Of.Limit : 0, Tokens, 0, Layers, OnStage});
    if (const int64_t States = Of.OfSequence.value())
      Add({0, 0, States, Layers, OnStage});
  }
  return Groups;
}

/// Sets equal pages for all layers (vLLM, v1/core/kv_cache_utils.py). Those of
/// layers that keep tokens grow by larger blocks, those of states are padded.
/// Returns the bytes of a layer's page.
static Bytes setPages(ExprScope P, llvm::ArrayRef<CacheGroup> Groups,
                      CachePool &Pool) {
  constexpr int64_t BlockMultiple = 16;
  int64_t MostOfToken = 0, States = 0;
  for (const CacheGroup &G : Groups) {
    MostOfToken = std::max(MostOfToken, G.OfToken);
    States = std::max(States, G.States);
  }
  Pool.Block = MostOfToken > 0 ? *P->Spec.Serve->Block : 0;
  if (States > 0 && MostOfToken > 0)
    Pool.Block = std::max<int64_t>(
        Pool.Block,
        llvm::divideCeil(llvm::divideCeil(States, MostOfToken), BlockMultiple) *
            BlockMultiple);
  const Bytes OfTokens = Bytes(MostOfToken) * Pool.Block;
  return OfTokens.isOverflow() ? OfTokens
                               : Bytes(std::max(OfTokens.value(), States));
}

/// Returns how many layers have a table of blocks in common.
static int64_t groupSize(llvm::ArrayRef<CacheGroup> Groups) {
  int64_t Least = INT64_MAX, Most = 0;
  for (const CacheGroup &G : Groups) {
    Least = std::min(Least, G.Layers);
    Most = std::max(Most, G.Layers);
  }
  return Most < Least + Least / 2 + Least % 2 ? Most : Least;
}

/// Bytes of vLLM's sampler for each logit, as users measured them in its trial
/// step (vllm-project/vllm#10511: 1.26 GiB of Llama-3-8B with 256 sequences).
constexpr int64_t SamplerBytes = 41;

/// Returns the bytes that the largest step needs on a rank of \p S: those of
/// the widest layer, or of vLLM's sampler, which runs on each rank.
static Bytes stepBytes(ExprScope P, const Stage &S) {
  const ServeSpec &V = *P->Spec.Serve;
  Bytes Most;
  if (*V.Engine == EngineKind::VLLM)
    Most = Bytes(SamplerBytes) * *V.MaxSequences * *P->Spec.Model.PaddedVocab;
  for (const auto &[Index, Layers] : layersByBlock(S)) {
    const Expr Live =
        Liveness(P, P->Blocks[BlockId(Index)]).most(Phase::Forward).Live;
    if (!Live.hasValue() || Most.isOverflow())
      return Bytes::overflow();
    Most = Bytes(std::max(Most.value(), Live.value()));
  }
  return Most;
}

/// Sets the blocks of the room of \p Pool; returns false if a page is beyond
/// 2^63. Tables of blocks are those of the whole model, and a page has the most
/// layers of a table that the stage has.
static bool setBlocks(ExprScope P, llvm::ArrayRef<CacheGroup> Groups,
                      CachePool &Pool) {
  const Bytes OfLayer = setPages(P, Groups, Pool);
  Bytes OfToken; // of layers that keep all tokens
  Pool.IsAlike = llvm::all_of(Groups, [](const CacheGroup &G) {
    return G.Limit == 0 && G.States == 0;
  });
  const int64_t Size = groupSize(Groups);
  int64_t Layers = 0; // of a page
  for (const CacheGroup &G : Groups) {
    OfToken += Bytes(G.OfToken) * G.OnStage;
    const auto Tables =
        static_cast<int64_t>(llvm::divideCeil(G.Layers, Size));
    Pool.Groups += Tables;
    Layers = std::max<int64_t>(Layers, llvm::divideCeil(G.OnStage, Tables));
    Pool.DoPagesDivide &= G.OfToken == 0 || OfLayer.isOverflow() ||
                          OfLayer.value() % G.OfToken == 0;
    if (G.OfToken != 0 && G.Limit == 0 && !OfLayer.isOverflow())
      Pool.Block = OfLayer.value() / G.OfToken;
  }
  if (Pool.IsAlike) {
    Pool.Groups = 1;
    Pool.Block = *P->Spec.Serve->Block;
    Pool.DoPagesDivide = true;
  }
  const Bytes Page = Pool.IsAlike ? OfToken * Pool.Block : OfLayer * Layers;
  if (Page.isOverflow())
    return false;
  Pool.OfLayer = Pool.IsAlike ? 0 : OfLayer.value();
  Pool.Page = Page.value();
  const Located<int64_t> &Stated = P->Spec.Serve->Blocks;
  if (Pool.Page != 0)
    Pool.Blocks = Stated.isPresent() ? *Stated : Pool.Room / Pool.Page;
  return true;
}

/// Returns the memory of a rank of \p S; nothing if a size is beyond 2^63.
static std::optional<CachePool> poolOf(ExprScope P, const Stage &S,
                                       int64_t Memory) {
  constexpr int64_t Whole = 1'000'000; // of a fraction
  const ServeSpec &V = *P->Spec.Serve;
  const Bytes Step = stepBytes(P, S);
  const StageCache Cache = cacheOf(P, S);
  if (Step.isOverflow() || !Cache.OfToken.hasValue() ||
      !Cache.OfLimited.hasValue() || !Cache.OfSequence.hasValue())
    return std::nullopt;
  CachePool Pool = {};
  Pool.Resident = P.at(S.Totals.Weights).value();
  Pool.Step = Step.value();
  const auto PartOf = [&](__int128 Bytes) {
    return Bytes * *V.MemoryFraction / Whole;
  };
  const __int128 Used = static_cast<__int128>(Pool.Resident) + Pool.Step;
  // SGLang keeps what a step needs out of its part.
  const __int128 Room = *V.Engine == EngineKind::TensorRTLLM
                            ? PartOf(Memory - Used)
                        : *V.Engine == EngineKind::SGLang
                            ? PartOf(Memory) - Pool.Resident
                            : PartOf(Memory) - Used;
  Pool.Room = static_cast<int64_t>(std::max<__int128>(Room, 0));
  const std::vector<CacheGroup> Groups = groupsOf(P, S);
  if (!Groups.empty() && !setBlocks(P, Groups, Pool))
    return std::nullopt;
  return Pool;
}

/// Returns the blocks that a sequence of \p Tokens needs on a rank of \p S.
static Elements blocksOf(ExprScope P, const Stage &S, const CachePool &Pool,
                         int64_t Tokens) {
  const ServeSpec &V = *P->Spec.Serve;
  const std::vector<CacheGroup> Groups = groupsOf(P, S);
  if (Pool.IsAlike)
    return Elements(llvm::divideCeil(Tokens, Pool.Block));
  const int64_t Size = groupSize(Groups);
  Elements Sum;
  for (const CacheGroup &G : Groups) {
    int64_t Each = 1 + int64_t(*V.PrefixCaching); // of states
    if (G.OfToken != 0) {
      // A step may add as many tokens before the window moves on.
      const bool IsShort = G.Limit == 0 || Tokens - G.Limit < *V.MaxBatchTokens;
      const int64_t Kept =
          IsShort ? Tokens : G.Limit - 1 + *V.MaxBatchTokens;
      Each = static_cast<int64_t>(
                 llvm::divideCeil(Kept, Pool.OfLayer / G.OfToken)) +
             int64_t(G.Limit != 0);
    }
    Sum += Elements(Each) * llvm::divideCeil(G.Layers, Size);
  }
  return Sum;
}

std::optional<CacheCapacity> foretrace::cacheCapacityOf(ExprScope P,
                                                   int64_t Memory) {
  const RequestsSpec &R = *P->Spec.Requests;
  CacheCapacity All;
  All.Sequences = *P->Spec.Serve->MaxSequences;
  auto Lower = [](std::optional<int64_t> &Least, int64_t To) {
    Least = std::min(Least.value_or(To), To);
  };
  for (const Stage &S : P->Stages) {
    const std::optional<CachePool> Pool = poolOf(P, S, Memory);
    if (!Pool)
      return std::nullopt;
    All.Stages.push_back(*Pool);
    All.DoPagesDivide &= Pool->DoPagesDivide;
    All.IsAlike &= Pool->IsAlike;
    if (Pool->Page == 0) // its layers leave nothing
      continue;
    const Elements Needed = blocksOf(P, S, *Pool, *R.Input + *R.Output);
    const int64_t Fit =
        Needed.isOverflow() ? 0 : Pool->Blocks / Needed.value();
    All.Sequences = std::min(All.Sequences, Fit);
    Lower(All.Blocks, Pool->Blocks);
    if (Pool->Block != 0) {
      All.Block = Pool->Block;
      Lower(All.Tokens, Pool->Blocks / Pool->Groups * Pool->Block);
    }
  }
  return All;
}
