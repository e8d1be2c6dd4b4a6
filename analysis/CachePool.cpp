// SPDX-License-Identifier: Apache-2.0
#include "analysis/CachePool.h"
#include "analysis/AdapterMemory.h"
#include "analysis/Analyses.h"
#include "analysis/LayerCounts.h"
#include "analysis/Liveness.h"
#include "ir/model/OpKinds.h"
#include "ir/model/Routing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Bytes of vLLM's sampler for each logit, as users measured them in its trial
/// step (vllm-project/vllm#10511: 1.26 GiB of Llama-3-8B with 256 sequences).
constexpr int64_t SamplerBytes = 41;

Expr foretrace::workspaceOf(ExprScope P, const Stage &S) {
  const ServeSpec &V = *P->Spec.Serve;
  Expr Most = numberOf(P, 0);
  if (*V.Engine == EngineKind::VLLM)
    Most = exprOf(P, V.MaxSequences) * exprOf(P, P->Spec.Model.PaddedVocab) *
           SamplerBytes;
  for (const auto &[Index, Layers] : layersByBlock(S))
    Most =
        max(Most, Liveness(P, P->Blocks[BlockId(Index)]).any(Phase::Forward));
  return Most;
}

/// Returns the hint of DeepEP for its low-latency kernels (csrc/legacy/
/// config.hpp, LowLatencyLayout and get_low_latency_rdma_size_hint) with
/// \p Width channels of a token: counts of two rounds, and room to send and to
/// receive a message for each token, or each token and expert.
static Expr lowLatencyBuffers(ExprScope P, Expr Width) {
  constexpr int64_t Alignment = 128, Place = 16; // of a token
  const ServeSpec &V = *P->Spec.Serve;
  const Expr Experts = exprOf(P, *routedExperts(P->Spec.Model).Count) +
                       exprOf(P, V.RedundantExperts);
  const Expr Tokens = exprOf(P, V.DeepEPMaxTokens),
             Scales = floorDiv(Width, numberOf(P, Alignment)) * 4;
  const Expr Dispatched = max(Width * 2, Width + Scales) + Place,
             Combined = Scales + Width * 2;
  auto Aligned = [&](Expr Of) { return roundUp(Of, numberOf(P, Alignment)); };
  const Expr Received = Experts * Tokens * max(Dispatched, Combined);
  const Expr Sent = max(Tokens * Dispatched, Experts * Tokens * Combined);
  return Aligned((Aligned(Experts * 4) + Received + Sent) * 2 + 1);
}

/// Bytes that vLLM reserves for DeepEP's kernels within a node, and again for
/// those between nodes (envs.py, VLLM_DEEPEP_BUFFER_SIZE_MB; distributed/
/// device_communicators/all2all.py, _make_all2all_kwargs).
constexpr int64_t DeepEPBytes = int64_t(1) << 30;

Expr foretrace::exchangeBuffersOf(ExprScope P, const Stage &S) {
  const Expr None = numberOf(P, 0);
  if (!usesDeepEP(P))
    return None;
  const ServeSpec &V = *P->Spec.Serve;
  const Expr OfNode = V.isLikeVLLM() ? numberOf(P, DeepEPBytes) : None;
  const int64_t Peers =
      P->Spec.Cluster ? *P->Spec.Cluster->DevicesPerNode : 8; // of DGX
  for (const auto &[Index, Layers] : layersByBlock(S)) {
    const Block &B = P->Blocks[BlockId(Index)];
    for (const Op &O : B.Ops)
      if (O.Kind == OpKind::Permute)
        return OfNode +
               (*V.Exchange == ExchangeKind::DeepEPLowLatency
                    ? lowLatencyBuffers(P, P.at(B.Values[O.Results.front()]
                                                    .Type.Dims.back()
                                                    .Size))
                    : less(numberOf(P, Peers), sizeOf(P, Axis::Ep)) * OfNode);
  }
  return None;
}

bool foretrace::usesDeepEP(const Program &P) {
  const ExchangeKind Is = *P.Spec.Serve->Exchange;
  return P.Mesh[Axis::Dp] > 1 && (Is == ExchangeKind::DeepEPNormal ||
                                  Is == ExchangeKind::DeepEPLowLatency);
}

/// Returns the value of a number on which expressions depend.
int64_t CachePools::decide(Expr Of) {
  if (!P.Sizes.constantAt(Of))
    Decisions.push_back(Of);
  return Of.value();
}

bool CachePools::areEqual(std::optional<Expr> A, std::optional<Expr> B) {
  if (!A || !B)
    return A.has_value() == B.has_value();
  return ExprId(*A) == ExprId(*B) || decide(equal(*A, *B)) == 1;
}

/// Finds the layers that leave something.
void CachePools::findCaches() {
  for (const auto &[Index, B] : llvm::enumerate(P->Blocks)) {
    const Expr None = numberOf(P, 0);
    LayerCache Of{static_cast<unsigned>(Index), std::nullopt, false, None,
                  None};
    bool Keeps = false;
    for (const Op &O : B.Ops) {
      if (!isCache(O.Kind))
        continue;
      Keeps = true;
      const Value &V = B.Values[O.Results.front()];
      const Expr Size = bytesOnRank(P, V) / exprOf(P, P->Spec.Train.MicroBatch);
      if (V.Type.indexOf(DimKind::Context) < 0) {
        Of.OfSequence += Size;
        continue;
      }
      // As many tokens as a sequence can have.
      Of.OfToken += Size / exprOf(P, P->Spec.Serve->MaxLength);
      Of.IsChunk |= O.Kind == OpKind::CacheChunk;
      if (O.Stated.isValid() && decide(less(None, P.at(O.Stated))) == 1)
        Of.Limit = P.at(O.Stated);
    }
    if (Keeps)
      Caches.push_back(Of);
  }
}

/// Sets the groups of the model. Without a hybrid cache layers with a limit
/// have blocks like the others.
void CachePools::findGroups() {
  const bool IsHybrid = *P->Spec.Serve->HybridCache;
  LayerCounts All;
  addLayers(P->Layers, 1, All);
  auto Add = [&](Group New, unsigned Block) {
    auto It = llvm::find_if(Groups, [&](const Group &Old) {
      return Old.IsChunk == New.IsChunk && areEqual(Old.Limit, New.Limit) &&
             areEqual(Old.OfToken, New.OfToken) &&
             areEqual(Old.States, New.States);
    });
    if (It == Groups.end())
      It = Groups.insert(It, std::move(New));
    else
      It->Layers += New.Layers;
    It->Blocks.push_back(Block);
  };
  for (const LayerCache &Of : Caches) {
    const int64_t Layers = All.lookup(Of.Block);
    if (Layers == 0)
      continue;
    if (!Of.OfToken.isConstant(0))
      Add({IsHybrid ? Of.Limit : std::nullopt,
           Of.OfToken,
           {},
           Layers,
           IsHybrid && Of.IsChunk},
          Of.Block);
    if (!Of.OfSequence.isConstant(0))
      Add({{}, {}, Of.OfSequence, Layers, false}, Of.Block);
  }
  if (Groups.empty())
    return;
  IsAlike = llvm::all_of(Groups,
                         [](const Group &G) { return !G.Limit && !G.States; });
  int64_t Least = INT64_MAX, Most = 0;
  for (const Group &G : Groups) {
    Least = std::min(Least, G.Layers);
    Most = std::max(Most, G.Layers);
  }
  GroupSize = Most < Least + Least / 2 + Least % 2 ? Most : Least;
}

/// Returns the tables of blocks that the layers of a group need.
int64_t CachePools::tablesOf(const Group &G) const {
  return static_cast<int64_t>(llvm::divideCeil(G.Layers, GroupSize));
}

/// Sets equal pages for unlike layers (vLLM, v1/core/kv_cache_utils.py). Those
/// of layers that keep tokens grow by larger blocks, those of states are
/// padded.
void CachePools::setPages() {
  constexpr int64_t BlockMultiple = 16;
  const Expr Stated = exprOf(P, P->Spec.Serve->Block);
  auto MostOf = [&](std::optional<Expr> Group::*Size) {
    std::optional<Expr> Most;
    for (const Group &G : Groups)
      if (G.*Size)
        Most = Most ? max(*Most, *(G.*Size)) : *(G.*Size);
    return Most;
  };
  const std::optional<Expr> Token = MostOf(&Group::OfToken),
                            States = MostOf(&Group::States);
  if (Token)
    Block = States ? max(Stated, roundUp(ceilDiv(*States, *Token),
                                         numberOf(P, BlockMultiple)))
                   : Stated;
  if (IsAlike) // also if no layer leaves anything
    return;
  PageOfLayer = !Token   ? *States
                : States ? max(*Token * *Block, *States)
                         : *Token * *Block;
  for (const Group &G : Groups) {
    if (!G.OfToken)
      continue;
    const Expr Rest = {P.Sizes,
                       P.Sizes.combine(ExprOp::Mod, *PageOfLayer, *G.OfToken)};
    DoPagesDivide *= equal(Rest, numberOf(P, 0));
    if (!G.Limit)
      Block = floorDiv(*PageOfLayer, *G.OfToken);
  }
}

/// Returns the part of memory that the engine takes.
Expr CachePools::partOf(Expr Bytes) const {
  const Expr Whole = numberOf(P, 1'000'000), // of a fraction
      Part = exprOf(P, P->Spec.Serve->MemoryFraction);
  const Expr Rest = {P.Sizes, P.Sizes.combine(ExprOp::Mod, Bytes, Whole)};
  return floorDiv(Bytes, Whole) * Part + floorDiv(Rest * Part, Whole);
}

/// Returns the bytes for blocks on a device with \p Memory.
Expr CachePools::roomOf(const Stage &S, int64_t Memory) const {
  const Expr All = numberOf(P, Memory), None = numberOf(P, 0),
             Weights = P->Spec.Lora ? P.at(S.Totals.Weights) + adaptersOf(P, S)
                                    : P.at(S.Totals.Weights),
             Used = Weights + workspaceOf(P, S) + exchangeBuffersOf(P, S);
  auto Beside = [](Expr Of, Expr Less) { return Of + Less * int64_t(-1); };
  switch (*P->Spec.Serve->Engine) {
  case EngineKind::TensorRTLLM:
    return partOf(max(Beside(All, Used), None));
  case EngineKind::SGLang: // keeps what a step needs out of its part
    return max(Beside(partOf(All), Weights), None);
  case EngineKind::Generic:
  case EngineKind::VLLM:
    return max(Beside(partOf(All), Used), None);
  }
  llvm_unreachable("every engine is handled");
}

/// Returns the blocks that a sequence of input + output tokens needs.
Expr CachePools::blocksNeeded() const {
  const ServeSpec &V = *P->Spec.Serve;
  const RequestsSpec &R = *P->Spec.Requests;
  Expr Tokens = exprOf(P, R.Input) + exprOf(P, R.Output);
  // A step has slots for all tokens that it verifies, besides those of before.
  if (P->Spec.Draft)
    Tokens += exprOf(P, P->Spec.Draft->Tokens) + 1;
  if (IsAlike)
    return ceilDiv(Tokens, *Block);
  Expr Sum = numberOf(P, 0);
  for (const Group &G : Groups) {
    Expr Each = numberOf(P, 1 + int64_t(*V.PrefixCaching)); // of states
    if (G.OfToken) {
      // A step may add as many tokens before the window moves on, which need
      // not begin with a block as a chunk does (v1/kv_cache_interface.py).
      const int64_t IsWindow = G.Limit && !G.IsChunk;
      const Expr Kept =
          G.Limit
              ? min(Tokens, *G.Limit + exprOf(P, V.MaxBatchTokens) + -IsWindow)
              : Tokens;
      Each = ceilDiv(Kept, floorDiv(*PageOfLayer, *G.OfToken)) + IsWindow;
    }
    Sum += Each * tablesOf(G);
  }
  return Sum;
}

/// Tables of blocks are those of the whole model, and a page has the most
/// layers of a table that the stage has.
CachePool CachePools::poolOf(const Stage &S,
                             std::optional<int64_t> Memory) const {
  const Expr None = numberOf(P, 0);
  const LayerCounts Counts = layersByBlock(S);
  auto LayersOf = [&](unsigned Block) {
    const int64_t Count = Counts.lookup(Block);
    return Count == 0 ? None : ofStage(P, S, KeyId::StageLayers, Block, Count);
  };
  CachePool Pool{None, None, None, {}, {}, {}, {}, {}};
  for (const LayerCache &Of : Caches) {
    const Expr Layers = LayersOf(Of.Block);
    (Of.Limit ? Pool.OfLimited : Pool.OfToken) += Layers * Of.OfToken;
    Pool.OfSequence += Layers * Of.OfSequence;
  }
  if (Memory)
    Pool.Room = roomOf(S, *Memory);
  Expr Layers = None, OfToken = None; // of a page
  int64_t Tables = 0;
  for (const Group &G : Groups) {
    Expr OnStage = None;
    for (const unsigned Block : G.Blocks)
      OnStage += LayersOf(Block);
    if (G.OfToken)
      OfToken += OnStage * *G.OfToken;
    Layers = max(Layers, ceilDiv(OnStage, numberOf(P, tablesOf(G))));
    Tables += tablesOf(G);
  }
  if (Layers.isConstant(0) || !hasRule())
    return Pool;
  Pool.Page = IsAlike ? OfToken * *Block : *PageOfLayer * Layers;
  Pool.Needed = blocksNeeded();
  if (const auto &Stated = P->Spec.Serve->Blocks; Stated.isPresent())
    Pool.Blocks = exprOf(P, Stated);
  else if (Pool.Room)
    Pool.Blocks = floorDiv(*Pool.Room, *Pool.Page);
  if (Pool.Blocks && Block)
    Pool.Tokens =
        floorDiv(*Pool.Blocks, numberOf(P, IsAlike ? 1 : Tables)) * *Block;
  return Pool;
}

CachePools::CachePools(ExprScope P, std::optional<int64_t> Memory)
    : P(P), DoPagesDivide(numberOf(P, 1)) {
  findCaches();
  findGroups();
  setPages();
  for (const Stage &S : P->Stages)
    Stages.push_back(poolOf(S, Memory));
}

std::optional<Expr>
CachePools::leastOf(std::optional<Expr> CachePool::*Number) const {
  std::optional<Expr> Least;
  for (const CachePool &Pool : Stages)
    if (const std::optional<Expr> &Of = Pool.*Number)
      Least = Least ? min(*Least, *Of) : *Of;
  return Least;
}

bool CachePools::hasRule() const {
  return IsAlike || P->Spec.Serve->isLikeVLLM();
}

std::optional<Expr> CachePools::sequences() const {
  if (!hasRule())
    return std::nullopt;
  Expr Most = exprOf(P, P->Spec.Serve->MaxSequences);
  bool IsKnown = P->Spec.Serve->Blocks.isPresent();
  for (const CachePool &Pool : Stages) {
    IsKnown |= Pool.Room.has_value();
    if (!Pool.Blocks)
      continue;
    // Stated blocks may be more than there is room for.
    const Expr Blocks =
        Pool.Room ? min(*Pool.Blocks, floorDiv(*Pool.Room, *Pool.Page))
                  : *Pool.Blocks;
    Most = min(Most, floorDiv(Blocks, *Pool.Needed));
  }
  return IsKnown ? std::optional(Most) : std::nullopt;
}
