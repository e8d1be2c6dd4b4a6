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

/// Whether buffers are Megatron-LM's.
static bool isOfMegatron(const Program &P) {
  const auto &By = P.Spec.Parallel.DpFramework;
  return !By.isPresent() || By.is(DpFrameworkKind::Megatron);
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

/// What is left of gradients of parameters when a micro-batch is done. Several
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

/// Elements of a gradient in its buffer. With ZeRO 1 each parameter, and so the
/// one of each expert, begins at a multiple of 64 elements (Megatron-LM since
/// core 0.8, param_and_grad_buffer.py; optimizer/param_layout.py,
/// pad_param_start).
Expr GradientBuffers::elementsOf(const Value &Gradient) const {
  const Expr All = unsharedElements(P, Gradient);
  if (*P.Spec.Parallel.Zero != 1 || !isOfMegatron(P) ||
      *P.Spec.Parallel.Megatron < MegatronVersion::V0_8)
    return All;
  const Expr Step = numberOf(P, 64);
  const int I = Gradient.Type.indexOf(DimKind::Expert);
  if (I < 0)
    return roundUp(All, Step);
  const Expr Experts =
      extentOnRank(P, Gradient.Type, Gradient.Layout, static_cast<size_t>(I));
  return roundUp(All / Experts, Step) * Experts;
}

/// Fills \p B up with ZeRO 1, so that ranks have equal shares that begin at
/// multiples of 256 bytes (pad_bucket_end). With overlap_grad_reduce the first
/// stage has several, of at least 40 million elements, each of which is filled.
/// DeepSpeed fills up what is gathered only, Megatron-FSDP by rows.
void GradientBuffers::fill(GradientBuffer &B, bool IsOfExperts) const {
  const ParallelSpec &Par = P.Spec.Parallel;
  if (isMegatronFsdp(Par) && gathersUpdated(P) && !B.empty() &&
      *Par.Megatron >= MegatronVersion::V0_14)
    B.Count =
        roundUp(B.Count, sizeOf(P, B.Group) * rowsTogether(P, IsOfExperts));
  if (*P.Spec.Parallel.Zero == 1 && isOfMegatron(P) && !B.empty())
    B.Count = roundUp(B.Count, lcm(sizeOf(P, B.Group), numberOf(P, 128)));
}

/// Whether \p G is of biases of experts that ranks of tp sum: Megatron-LM's own
/// linear layers mark those of row-parallel layers as everywhere alike
/// (tensor_parallel/layers.py, RowParallelLinear).
static bool isMarkedBias(const Program &P, const Value &G) {
  return *P.Spec.Train.TransformerImpl == TransformerImplKind::Local &&
         *P.Spec.Parallel.SequenceParallel && P.Mesh[Axis::Tp] > 1 &&
         G.Type.Dims.size() == 2 && G.Type.indexOf(DimKind::Expert) >= 0 &&
         G.Type.indexOf(DimKind::ExpertFfn) < 0;
}

/// Of one layer of a block.
const GradientBuffers::LayerCounts &GradientBuffers::countsOf(unsigned Index,
                                                              TiedHead At) {
  auto [It, IsNew] = Known.try_emplace(Index);
  if (!IsNew)
    return It->second;
  const Block &B = P.Blocks[BlockId(Index)];
  using Terms = llvm::SmallVector<ExprId, 32>;
  Terms Dense, Expert, DenseScaled, ExpertScaled, Table, Replicated, Shared,
      ExpertBias;
  const bool AreApart = areExpertsApart(P);
  const bool IsEmbedding = Index == P.Layers.front().Runs.front().Block.Index;
  // Beside a branch, which has the table of the embedding (Megatron-LM,
  // language_module.py, shared_embedding_or_output_weight).
  const bool IsHead =
      P.Spec.Model.Branch && Index == P.Layers.back().Runs.front().Block.Index;
  for (const Value *G : paramGradients(B)) {
    const Value &Param = B.Values[G->GradientOf];
    if (!isStored(Param, At))
      continue;
    if (G->Layout.isPartial(Axis::Tp) || isMarkedBias(P, *G))
      Replicated.push_back(G->OnRank.Id);
    if (Param.Shared)
      Shared.push_back(unsharedElements(P, *G));
    const bool IsExpert = AreApart && Param.Type.indexOf(DimKind::Expert) >= 0;
    const ElementType Stored = Param.Type.Element;
    const bool IsOfScaled =
        isScaled(gathersUpdated(P) ? Param.Gathered.value_or(Stored) : Stored);
    const bool IsTable = G->Type.indexOf(DimKind::Vocab) >= 0 &&
                         (IsEmbedding || Param.Copy || (Param.Tied && !IsHead));
    Terms &Into = IsTable && !IsOfScaled ? Table
                  : IsOfScaled ? (IsExpert ? ExpertScaled : DenseScaled)
                               : (IsExpert ? Expert : Dense);
    Into.push_back(elementsOf(*G));
  }
  llvm::DenseSet<unsigned> Routers;
  for (const Op &O : B.Ops)
    if (O.Kind == OpKind::Route && O.Phase == Phase::Forward &&
        O.Operands.size() > 1 && Routers.insert(O.Operands[1].Index).second)
      ExpertBias.push_back(B.Values[O.Operands[1]].OnRank.Id);
  return It->second = {P.Sizes.sum(Dense),       P.Sizes.sum(Expert),
                       P.Sizes.sum(DenseScaled), P.Sizes.sum(ExpertScaled),
                       P.Sizes.sum(Table),       P.Sizes.sum(Replicated),
                       P.Sizes.sum(Shared),      P.Sizes.sum(ExpertBias)};
}

/// Those of \p Axes along which there is more than one rank.
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

/// The same of what is not shared: over all replicas at once.
GradientBuffer GradientBuffers::overReplicas(AxisList Axes) const {
  Axes.push_back(Axis::DpReplicate);
  return {{used(std::move(Axes))}, None, twins()};
}

/// Adds what a chunk with these layers has. With ZeRO 1 a table that another
/// stage holds, too, has a bucket of its own (param_and_grad_buffer.py,
/// _does_param_require_new_bucket), in the reverse order of layers.
void GradientBuffers::addBuckets(const Layers &ByBlock, bool IsTableFirst,
                                 TiedHead At) {
  const GradientBuffer OfDense = overCopies({Axis::Cp, Axis::Dp}),
                       OfExpert = overCopies({Axis::Edp});
  GradientBucket Dense{"dense", OfDense, OfDense},
      Table = Dense, Expert{"expert", OfExpert, OfExpert};
  for (auto [Into, OfLayer] : {std::pair(&Dense.All, &LayerCounts::Dense),
                               {&Dense.Scaled, &LayerCounts::DenseScaled},
                               {&Expert.All, &LayerCounts::Expert},
                               {&Expert.Scaled, &LayerCounts::ExpertScaled},
                               {&Table.All, &LayerCounts::Table}}) {
    llvm::SmallVector<ExprId, 4> Terms;
    for (const auto &[Index, Count] : ByBlock)
      Terms.push_back(Count * Expr(P.Sizes, countsOf(Index, At).*OfLayer));
    Into->Count = sumOf(P, Terms);
  }
  if (Tied.empty() || *P.Spec.Parallel.Zero != 1)
    Dense.All.Count += std::exchange(Table.All.Count, None);
  if (IsTableFirst)
    std::swap(Dense, Table);
  for (GradientBucket *B : {&Dense, &Table, &Expert}) {
    fill(B->All, B == &Expert);
    fill(B->Scaled, B == &Expert);
    B->All.Count += B->Scaled.Count;
    if (!B->All.empty())
      Buckets.push_back(std::move(*B));
  }
}

/// Whether each chunk of \p S has buffers of its own. Two copies of the model
/// are added up as wholes, and with ZeRO 2 and 3 `shard` has reduced gradients.
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
  collectTied(S, At);
  Buckets.clear();
  // A head comes after all layers, the embedding of a branch before them.
  const bool IsTableFirst =
      S.ReceivesForward && *P.Spec.Model.Tied && !P.Spec.Model.Branch;
  if (!hasBuffersPerChunk(P, S))
    return addBuckets(All, IsTableFirst, At);
  int64_t Chunk = 0;
  for (const auto &[Kind, C] : llvm::enumerate(S.Chunks)) {
    Layers OfChunk;
    for (auto [Index, Count] : layersByBlock(C.Layers))
      OfChunk.push_back({Index, ofStage(P, S, KeyId::StageChunk, Index, Count,
                                        firstChunk(S, Kind))});
    for (int64_t I = 0; I < C.Count; ++I) {
      const size_t Before = Buckets.size();
      addBuckets(OfChunk, IsTableFirst, At);
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
