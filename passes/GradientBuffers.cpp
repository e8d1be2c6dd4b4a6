// SPDX-License-Identifier: Apache-2.0
#include "passes/GradientBuffers.h"
#include "analysis/Analyses.h"
#include "analysis/LayerCounts.h"
#include "ir/model/OpKinds.h"
#include "ir/model/Shares.h"
#include "passes/BlockBuilder.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <utility>

using namespace foretrace;
using namespace foretrace::ir;

bool foretrace::gathersUpdated(const Program &P) {
  const int64_t Zero = *P.Spec.Parallel.Zero;
  return (Zero == 1 || Zero == 2) && !sharesWeights(P);
}

/// Returns whether a stage has trained experts, which have an optimizer of
/// their own (optimizer/__init__.py, get_megatron_optimizer).
static bool hasTrainedExperts(const Program &P) {
  return llvm::any_of(P.Blocks, [](const Block &B) {
    return llvm::any_of(B.Values, [&](const Value &V) {
      return V.Kind == ValueKind::Gradient && V.GradientOf.isValid() &&
             B.Values[V.GradientOf].Kind == ValueKind::Param &&
             B.Values[V.GradientOf].Type.indexOf(DimKind::Expert) >= 0;
    });
  });
}

/// Returns how often ranks gather updated parameters. Megatron-LM has an
/// optimizer for experts and one for the rest; since core 0.9 each starts the
/// gathers of all, if the next forward pass does not (DistributedOptimizer,
/// step_with_ready_grads; DistributedDataParallel, start_param_sync).
int64_t foretrace::gathersOf(const Program &P) {
  if (keepsSomeWhole(P))
    return 1;
  if (!gathersUpdated(P))
    return 0;
  const ParallelSpec &Par = P.Spec.Parallel;
  const bool HasTwo =
      isOfMegatron(Par) && areExpertsApart(P) && hasTrainedExperts(P);
  return HasTwo && *Par.Zero == 1 && !Par.OverlapParamGather.is(true) &&
                 *Par.Megatron >= MegatronVersion::V0_9
             ? 2
             : 1;
}

/// How often replicas sum gradients. Since core 0.16 Megatron-LM starts a sum
/// in finish_grad_sync, too, until gradients were ready while others were
/// summed: never where the schedule starts all sums, which is after the
/// backward passes (schedules.py, grad_sync_func). With several instances of
/// the optimizer no handle tells that there was one (param_and_grad_buffer.py,
/// is_first_batch).
int64_t foretrace::sumsOf(const Program &P, const Stage &S) {
  const ParallelSpec &Par = P.Spec.Parallel;
  const bool IsLate =
      S.ReceivesForward || *Par.Schedule == ScheduleKind::Interleaved;
  return isOfMegatron(Par) && *Par.Zero == 1 && *Par.Pp > 1 && IsLate &&
                 P.Mesh[Axis::DpReplicate] > 1 &&
                 Par.OverlapGradReduce.is(true) &&
                 *Par.Megatron >= MegatronVersion::V0_16
             ? 2
             : 1;
}

GradientBuffers::GradientBuffers(Program &P)
    : Replicated{{}, numberOf(P, 0)}, Tied(Replicated), Shared(Replicated),
      ExpertBias(Replicated), P(P), None(Replicated.Count) {
  const ParallelSpec &Par = P.Spec.Parallel;
  // `shard` has summed them.
  const bool AreSummed = isOfTorch(Par) && *Par.Zero >= 2;
  if (P.Mesh[Axis::DpReplicate] > 1 && !AreSummed) {
    Copies.push_back({{Axis::DpReplicate}});
    HasReplicas = true;
  }
  if (getInfo(*P.Spec.Parallel.Schedule).Placement ==
      PlacementKind::Bidirectional)
    Copies.push_back({{Axis::Pp}, GroupMembers::Pairs});
}

/// Returns gradients of parameters that remain after a micro-batch. Several
/// uses of a parameter add to one buffer.
static std::vector<const Value *> paramGradients(const Block &B) {
  llvm::DenseSet<unsigned> Reduced, Seen;
  for (const Op &O : B.Ops)
    if (isCollective(O.Kind))
      Reduced.insert(O.Operands[0].Index);
  std::vector<const Value *> Gradients;
  for (const auto &[Index, V] : llvm::enumerate(B.Values))
    if (V.Kind == ValueKind::Gradient &&
        B.Values[V.GradientOf].Kind == ValueKind::Param &&
        !Reduced.contains(static_cast<unsigned>(Index)) &&
        Seen.insert(V.GradientOf.Index).second)
      Gradients.push_back(&V);
  return Gradients;
}

/// Returns whether each parameter, and so the one of each expert, begins at a
/// multiple of 64 elements: with ZeRO 1 (Megatron-LM since core 0.8,
/// param_and_grad_buffer.py; optimizer/param_layout.py, pad_param_start).
bool GradientBuffers::hasAligned() const {
  return *P.Spec.Parallel.Zero == 1 && isOfMegatron(P.Spec.Parallel) &&
         *P.Spec.Parallel.Megatron >= MegatronVersion::V0_8;
}

/// Elements of a gradient in its buffer.
Expr GradientBuffers::elementsOf(const Value &Gradient) const {
  const Expr All = unsharedElements(P, Gradient);
  if (!hasAligned())
    return All;
  const Expr Step = numberOf(P, 64);
  const int I = Gradient.Type.indexOf(DimKind::Expert);
  if (I < 0)
    return roundUp(All, Step);
  const Expr Experts =
      extentOnRank(P, Gradient.Type, Gradient.Layout, static_cast<size_t>(I));
  return roundUp(All / Experts, Step) * Experts;
}

/// Returns a divisor of all messages with ZeRO 1, so that ranks have equal
/// shares that begin at multiples of 256 bytes (pad_bucket_end).
Expr GradientBuffers::step(const GradientBuffer &B) const {
  const bool IsWide = P.Spec.Parallel.DdpPadBuckets.is(true);
  return lcm(sizeOf(P, B.Group), numberOf(P, IsWide ? 1 << 16 : 128));
}

Expr GradientBuffers::rests() const {
  Expr Sum = None;
  for (const auto &[Block, Layers] : layersByBlock(P.Layers))
    for (const Value *G : paramGradients(P.Blocks[BlockId(Block)])) {
      const int I = G->Type.indexOf(DimKind::Expert);
      const bool IsExpert = areExpertsApart(P) && I >= 0;
      const AxisList Axes =
          IsExpert ? AxisList{Axis::Edp} : AxisList{Axis::Cp, Axis::Dp};
      if (P.Mesh.groupSize(Axes) == 1 && !HasReplicas)
        continue;
      const Expr Whole = step({{Axes}, None});
      const Expr Size =
          elementsOf(*G) /
          (I < 0 ? numberOf(P, 1)
                 : extentOnRank(P, G->Type, G->Layout, static_cast<size_t>(I)));
      Sum += Size + floorDiv(Size, Whole) * Whole * -1;
    }
  return Sum;
}

/// Fills \p B up with ZeRO 1. DeepSpeed fills up what is gathered only,
/// Megatron-FSDP by rows, also between parameters.
void GradientBuffers::fill(GradientBuffer &B, Parts Of, const Chunk &C,
                           TiedHead At) const {
  const ParallelSpec &Par = P.Spec.Parallel;
  if (hasFsdpBuffers(P) && gathersUpdated(P) && !B.empty()) {
    B.Count =
        roundUp(B.Count, sizeOf(P, B.Group) * rowsTogether(P, isOfExperts(Of)));
    const auto Layout =
        *Par.Zero == 1 ? layoutOf(*C.Sequence, Of, B.Group, At) : std::nullopt;
    if (Layout && Layout->Elements != B.Count.value())
      B.Count = numberOf(P, Layout->Elements);
  }
  if (*Par.Zero == 1 && isOfMegatron(Par) && !B.empty())
    B.Count = roundUp(B.Count, step(B));
}

/// Returns whether \p G is of biases of experts that ranks of tp sum:
/// Megatron-LM's own linear layers mark those of row-parallel layers as
/// everywhere alike (tensor_parallel/layers.py, RowParallelLinear).
static bool isMarkedBias(const Program &P, const Value &G) {
  return *P.Spec.Train.TransformerImpl == TransformerImplKind::Local &&
         *P.Spec.Parallel.SequenceParallel && P.Mesh[Axis::Tp] > 1 &&
         G.Type.Dims.size() == 2 && G.Type.indexOf(DimKind::Expert) >= 0 &&
         G.Type.indexOf(DimKind::ExpertFfn) < 0;
}

/// Returns whether ranks of tp sum the gradient \p G though each has all of it:
/// that of a norm of queries, which Megatron-LM finds by its name. In latent
/// attention only its own layers have that name (distributed/
/// finalize_model_grads.py, _allreduce_non_tensor_model_parallel_grads).
static bool isSummedByName(const Program &P, const Value &Param,
                           const Value &G) {
  return *P.Spec.Train.TransformerImpl == TransformerImplKind::Local &&
         P.Mesh[Axis::Tp] > 1 && G.Layout.isWhole(Axis::Tp) &&
         isOfMegatron(P.Spec.Parallel) &&
         llvm::StringRef(Param.Name).contains("q_layernorm");
}

bool GradientBuffers::isSummedOverTp(const Value &Param,
                                     const Value &Gradient) const {
  return Gradient.Layout.isPartial(Axis::Tp) || isMarkedBias(P, Gradient) ||
         isSummedByName(P, Param, Gradient);
}

std::vector<const Value *> GradientBuffers::gradientsOf(const Block &B,
                                                        TiedHead At) const {
  std::vector<const Value *> Gradients = paramGradients(B);
  llvm::erase_if(Gradients, [&](const Value *G) {
    return !isStored(B.Values[G->GradientOf], At);
  });
  return Gradients;
}

ExprId GradientBuffers::LayerCounts::*
GradientBuffers::partOf(const Block &B, const Value &G) const {
  const Value &Param = B.Values[G.GradientOf];
  const bool IsExpert =
      areExpertsApart(P) && Param.Type.indexOf(DimKind::Expert) >= 0;
  const ElementType Stored = Param.Type.Element;
  if (isScaled(gathersUpdated(P) ? Param.Gathered.value_or(Stored) : Stored))
    return IsExpert ? &LayerCounts::ExpertScaled : &LayerCounts::DenseScaled;
  const bool IsEmbedding = &B == &P.Blocks[P.Layers.front().Runs.front().Block];
  // Beside a branch, which has the table of the embedding (Megatron-LM,
  // language_module.py, shared_embedding_or_output_weight).
  const bool IsHead = P.Spec.Model.Branch &&
                      &B == &P.Blocks[P.Layers.back().Runs.front().Block];
  if (G.Type.indexOf(DimKind::Vocab) >= 0 &&
      (IsEmbedding || Param.Copy || (Param.Tied && !IsHead)))
    return &LayerCounts::Table;
  return IsExpert ? &LayerCounts::Expert : &LayerCounts::Dense;
}

/// Counts gradients of one layer of a block.
const GradientBuffers::LayerCounts &GradientBuffers::countsOf(unsigned Index,
                                                              TiedHead At) {
  auto [It, IsNew] = Known.try_emplace(Index);
  if (!IsNew)
    return It->second;
  const Block &B = P.Blocks[BlockId(Index)];
  using Terms = llvm::SmallVector<ExprId, 32>;
  Terms Replicated, Shared, ExpertBias;
  std::pair<ExprId LayerCounts::*, Terms> Into[] = {
      {&LayerCounts::Dense, {}},
      {&LayerCounts::Expert, {}},
      {&LayerCounts::DenseScaled, {}},
      {&LayerCounts::ExpertScaled, {}},
      {&LayerCounts::Table, {}}};
  for (const Value *G : gradientsOf(B, At)) {
    const Value &Param = B.Values[G->GradientOf];
    if (isSummedOverTp(Param, *G))
      Replicated.push_back(G->OnRank.Id);
    if (Param.Shared)
      Shared.push_back(unsharedElements(P, *G));
    const auto Part = partOf(B, *G);
    llvm::find_if(Into, [&](const auto &Of) {
      return Of.first == Part;
    })->second.push_back(elementsOf(*G));
  }
  llvm::DenseSet<unsigned> Routers;
  for (const Op &O : B.Ops)
    if (O.Kind == OpKind::Route && O.Phase == Phase::Forward &&
        O.Operands.size() > 1 && Routers.insert(O.Operands[1].Index).second)
      ExpertBias.push_back(B.Values[O.Operands[1]].OnRank.Id);
  LayerCounts &Of = It->second;
  for (const auto &[Part, Sum] : Into)
    Of.*Part = P.Sizes.sum(Sum);
  Of.Replicated = P.Sizes.sum(Replicated);
  Of.Shared = P.Sizes.sum(Shared);
  Of.ExpertBias = P.Sizes.sum(ExpertBias);
  return Of;
}

/// Returns the axes in \p Axes along which there is more than one rank.
AxisList GradientBuffers::used(AxisList Axes) const {
  llvm::erase_if(Axes, [&](Axis A) { return P.Mesh[A] == 1; });
  return Axes;
}

GradientBuffer GradientBuffers::overCopies(AxisList Axes) const {
  return {{used(std::move(Axes))}, None, Copies};
}

/// The two copies of the model that a bidirectional schedule keeps.
llvm::ArrayRef<Group> GradientBuffers::twins() const {
  return llvm::ArrayRef(Copies).drop_front(HasReplicas);
}

/// Returns the buffer of gradients that are not shared: over all replicas.
GradientBuffer GradientBuffers::overReplicas(AxisList Axes) const {
  Axes.push_back(Axis::DpReplicate);
  return {{used(std::move(Axes))}, None, twins()};
}

/// Adds what a chunk has. With ZeRO 1 a table that another stage holds, too,
/// has a bucket of its own (param_and_grad_buffer.py,
/// _does_param_require_new_bucket), in the reverse order of layers.
void GradientBuffers::addBuckets(const Chunk &C, TiedHead At) {
  const GradientBuffer OfDense = overCopies({Axis::Cp, Axis::Dp}),
                       OfExpert = overCopies({Axis::Edp});
  GradientBucket Dense{"dense", OfDense, OfDense, OfDense},
      Table = Dense, Expert{"expert", OfExpert, OfExpert, OfExpert};
  const bool IsTableApart = !Tied.empty() && *P.Spec.Parallel.Zero == 1;
  using Part = ExprId LayerCounts::*;
  const Part DenseParts[] = {&LayerCounts::Dense, &LayerCounts::Table};
  const std::pair<GradientBuffer *, llvm::SmallVector<Part, 2>> Buffers[] = {
      {&Dense.Plain,
       {DenseParts, IsTableApart ? DenseParts + 1 : std::end(DenseParts)}},
      {&Dense.Scaled, {&LayerCounts::DenseScaled}},
      {&Expert.Plain, {&LayerCounts::Expert}},
      {&Expert.Scaled, {&LayerCounts::ExpertScaled}},
      {&Table.Plain, {&LayerCounts::Table}}};
  for (const auto &[Into, Parts] : Buffers) {
    if (Into == &Table.Plain && !IsTableApart)
      continue;
    for (const Part OfLayer : Parts) {
      llvm::SmallVector<ExprId, 4> Terms;
      for (const auto &[Index, Count] : C.ByBlock)
        Terms.push_back(Count *
                        ir::Expr(P.Sizes, countsOf(Index, At).*OfLayer));
      Into->Count += sumOf(P, Terms);
    }
    cut(*Into, Parts, C, At);
  }
  if (C.IsTableFirst)
    std::swap(Dense, Table);
  for (GradientBucket *B : {&Dense, &Table, &Expert}) {
    B->All.Count = B->Plain.Count + B->Scaled.Count;
    B->All.Messages = joined(*B);
    if (!B->All.empty())
      Buckets.push_back(std::move(*B));
  }
}

/// Returns whether each chunk of \p S has its own buffers. Two copies of the
/// model are summed whole; with ZeRO 2 and 3 `shard` has reduced gradients.
static bool hasBuffersPerChunk(const Program &P, const Stage &S) {
  return *P.Spec.Parallel.Zero < 2 &&
         getInfo(*P.Spec.Parallel.Schedule).Placement !=
             PlacementKind::Bidirectional &&
         (S.Chunks.size() > 1 || S.Chunks.front().Count > 1);
}

void GradientBuffers::collect(const Stage &S) {
  Replicated = {{{Axis::Tp}}, None};
  Tied = {{{Axis::Pp}, GroupMembers::Ends}, None};
  Shared = {{{Axis::Pp}}, None};
  ExpertBias = overReplicas({Axis::Tp, Axis::Cp, Axis::Dp});
  const TiedHead At = tiedHeadOf(P.Spec.Parallel);
  struct Sum {
    GradientBuffer *Into;
    ExprId LayerCounts::*OfLayer;
    llvm::SmallVector<ExprId, 4> Terms = {}; ///< by block
  } Sums[] = {{&Replicated, &LayerCounts::Replicated},
              {&Shared, &LayerCounts::Shared},
              {&ExpertBias, &LayerCounts::ExpertBias}};
  Layers All;
  for (auto [Index, Count] : layersByBlock(S)) {
    const Expr Layers = ofStage(P, S, KeyId::StageLayers, Index, Count);
    All.push_back({Index, Layers});
    const LayerCounts &Each = countsOf(Index, At);
    for (auto &[Into, OfLayer, Terms] : Sums)
      Terms.push_back(Layers * Expr(P.Sizes, Each.*OfLayer));
  }
  for (auto &[Into, OfLayer, Terms] : Sums)
    Into->Count = sumOf(P, Terms);
  if (hasFsdpBuffers(P) && !Replicated.empty())
    if (const auto OfFirst = replicatedOfFirst(S, At))
      Replicated.Count = numberOf(P, *OfFirst);
  collectTied(S, At);
  Buckets.clear();
  std::optional<int64_t> BucketSize = bucketSizeOf(P, S);
  // A head comes after all layers, the embedding of a branch before them.
  const bool IsTableFirst =
      S.ReceivesForward && *P.Spec.Model.Tied && !P.Spec.Model.Branch;
  if (!hasBuffersPerChunk(P, S))
    return addBuckets({All, &S.Chunks.front().Layers, IsTableFirst, BucketSize},
                      At);
  int64_t Chunk = 0;
  for (const auto &[Kind, C] : llvm::enumerate(S.Chunks)) {
    Layers OfChunk;
    for (auto [Index, Count] : layersByBlock(C.Layers))
      OfChunk.push_back({Index, ofStage(P, S, KeyId::StageChunk, Index, Count,
                                        firstChunk(S, Kind))});
    for (int64_t I = 0; I < C.Count; ++I) {
      const size_t Before = Buckets.size();
      addBuckets({OfChunk, &C.Layers, IsTableFirst,
                  std::exchange(BucketSize, std::nullopt)},
                 At);
      for (GradientBucket &B : llvm::drop_begin(Buckets, Before))
        B.Chunk = Chunk;
      ++Chunk;
    }
  }
}

void GradientBuffers::collectTied(const Stage &S, TiedHead At) {
  if (!P.Spec.Model.hasTableAtEnd() || At == TiedHead::BesideEmbedding ||
      (S.ReceivesForward && S.SendsForward))
    return;
  const Block &Embedding = P.Blocks[P.Layers.front().Runs.front().Block];
  for (const Value *G : paramGradients(Embedding))
    if (G->Type.indexOf(DimKind::Vocab) >= 0)
      Tied.Count = {P.Sizes, G->OnRank.Id};
}
