// SPDX-License-Identifier: Apache-2.0
//
// sync: what every stage does once an iteration, after the last micro-batch:
// sum the gradients that `shard` left partial, first over replicas, then over
// tp, then of the tied embedding (Megatron-LM, finalize_model_grads), update,
// and with ZeRO 1 or 2 gather the updated parameters. Gradients of one group
// travel in one buffer, as in Megatron-LM's DistributedDataParallel. With ZeRO
// 2 and 3 `shard` has already reduced them, every micro-batch, and each rank
// updates its share.
//
// A bidirectional schedule has two copies of every part of the model, which see
// half of the micro-batches each: stage s and stage p - 1 - s hold the same,
// and add up their gradients (DeepSeek-AI, DualPipe,
// examples/example_dualpipe.py, "Check grads"), with ZeRO their shares of them.
// So do replicas that share with others (`dp_shard`), before that: each share
// is summed over those that hold the same one (Megatron-LM,
// param_and_grad_buffer.py, with num_distributed_optimizer_instances), once an
// iteration also with ZeRO 2 and 3 (Megatron-FSDP; PyTorch's fully_shard does
// so if set_requires_all_reduce asks for it, else every micro-batch).

#include "ir/LayerCounts.h"
#include "ir/Parameters.h"
#include "passes/BlockBuilder.h"
#include "passes/Passes.h"
#include "passes/analyses/Analyses.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// Gradients, or counts, that are summed over the same group.
struct Buffer {
  ir::Group Group;
  Expr Count;
  /// Of what a rank has then, over which that is summed, one after the other.
  llvm::ArrayRef<ir::Group> Copies = {};

  bool empty() const { return Count.isConstant(0); }
};

class Synchronizer {
public:
  Synchronizer(Program &P, DiagnosticEngine &Diags)
      : P(P), Diags(Diags), None(numberOf(P, 0)) {
    if (P.Mesh[Axis::DpReplicate] > 1)
      Copies.push_back({{Axis::DpReplicate}});
    if (getInfo(*P.Spec.Parallel.Schedule).Placement ==
        PlacementKind::Bidirectional)
      Copies.push_back({{Axis::Pp}, GroupMembers::Pairs});
  }

  bool run();

private:
  AxisList used(AxisList Axes) const;
  Buffer overCopies(AxisList Axes) const;
  Buffer overReplicas(AxisList Axes) const;
  llvm::ArrayRef<Group> twins() const;
  void collect(const Stage &S);
  /// Elements of gradients of one layer on one rank, and of router biases.
  struct LayerCounts {
    ExprId Dense, Expert, Replicated, ExpertBias;
  };
  const LayerCounts &countsOf(unsigned Index, TiedHead At);
  Block stepBlock(const Stage &S);
  ValueId reduce(BlockBuilder &Build, llvm::StringRef Name, const Buffer &From,
                 bool Sharded);
  ValueId terms(BlockBuilder &Build, llvm::StringRef Name, ElementType Element,
                const Buffer &Of);
  ValueId sumOver(BlockBuilder &Build, ValueId V, const Group &Of,
                  bool Sharded);
  ValueId sumOver(BlockBuilder &Build, ValueId V, llvm::ArrayRef<Group> Copies);
  ValueId sum(BlockBuilder &Build, ValueId V, const Buffer &Of, bool Sharded);
  void updateExpertBias(BlockBuilder &Build);
  void sumTokenCounts(BlockBuilder &Build);
  ValueId gradients(BlockBuilder &Build, llvm::StringRef Name,
                    const Buffer &Of);
  ValueId share(BlockBuilder &Build, llvm::StringRef Name, ValueKind Kind,
                ElementType Element, const Buffer &Of);
  void gather(BlockBuilder &Build, ValueId Share, const AxisList &Axes);

  Program &P;
  DiagnosticEngine &Diags;
  /// Ranks that hold the same parts of the model, and share none of them.
  llvm::SmallVector<Group, 2> Copies;
  const Expr None;
  llvm::DenseMap<unsigned, LayerCounts> Known; ///< by block
  // Of the stage at hand.
  Buffer Dense{{}, None}, Expert{{}, None}; ///< all, by data-parallel group
  Buffer Replicated{{}, None}; ///< summed over tp, too (sequence parallel)
  Buffer Tied{{}, None};       ///< the word embedding that two stages hold
  Buffer ExpertBias{{}, None}; ///< tokens that every expert got
};

ElementType gradType(const Program &P) {
  return elementTypeOf(*P.Spec.Train.GradPrecision);
}

} // namespace

/// What is left of gradients of parameters when a micro-batch is done.
static std::vector<const Value *> paramGradients(const Block &B) {
  llvm::DenseSet<unsigned> Reduced;
  for (const Op &O : B.Ops)
    if (isCollective(O.Kind))
      Reduced.insert(O.Operands[0].Index);
  std::vector<const Value *> Gradients;
  for (const auto &[Index, V] : llvm::enumerate(B.Values))
    if (V.Kind == ValueKind::Gradient &&
        B.Values[V.GradientOf].Kind == ValueKind::Param &&
        !Reduced.contains(static_cast<unsigned>(Index)))
      Gradients.push_back(&V);
  return Gradients;
}

static AxisList flatAxes(const Layout &L) {
  AxisList Axes;
  for (Axis A : allAxes())
    if (L.isFlat(A))
      Axes.push_back(A);
  return Axes;
}

/// Elements of \p V on one rank, if shares of ZeRO are put together.
static Expr unsharedElements(Program &P, const Value &V) {
  Layout L = V.Layout;
  for (Axis A : flatAxes(L))
    L.setWhole(A);
  return elementsOnRank(P, V.Type, L);
}

/// Of one layer of a block.
const Synchronizer::LayerCounts &Synchronizer::countsOf(unsigned Index,
                                                        TiedHead At) {
  auto [It, IsNew] = Known.try_emplace(Index);
  if (!IsNew)
    return It->second;
  const Block &B = P.Blocks[BlockId(Index)];
  llvm::SmallVector<ExprId, 32> Dense, Expert, Replicated, ExpertBias;
  for (const Value *G : paramGradients(B)) {
    const Value &Param = B.Values[G->GradientOf];
    if (!isStored(Param, At))
      continue;
    if (G->Layout.isPartial(Axis::Tp))
      Replicated.push_back(G->OnRank.Id);
    const bool IsExpert = Param.Type.indexOf(DimKind::Expert) >= 0;
    (IsExpert ? Expert : Dense).push_back(unsharedElements(P, *G));
  }
  for (const Op &O : B.Ops)
    if (O.Kind == OpKind::Route && O.Phase == Phase::Forward &&
        O.Operands.size() > 1)
      ExpertBias.push_back(B.Values[O.Operands[1]].OnRank.Id);
  return It->second = {P.Sizes.sum(Dense), P.Sizes.sum(Expert),
                       P.Sizes.sum(Replicated), P.Sizes.sum(ExpertBias)};
}

/// Those of \p Axes along which there is more than one rank.
AxisList Synchronizer::used(AxisList Axes) const {
  llvm::erase_if(Axes, [&](Axis A) { return P.Mesh[A] == 1; });
  return Axes;
}

/// An empty buffer that is summed along \p Axes, and over the copies of the
/// model.
Buffer Synchronizer::overCopies(AxisList Axes) const {
  return {{used(std::move(Axes))}, None, Copies};
}

/// The two copies of the model that a bidirectional schedule keeps.
llvm::ArrayRef<Group> Synchronizer::twins() const {
  return llvm::ArrayRef(Copies).drop_front(P.Mesh[Axis::DpReplicate] > 1);
}

/// The same of what is not shared: over all replicas at once.
Buffer Synchronizer::overReplicas(AxisList Axes) const {
  Axes.push_back(Axis::DpReplicate);
  return {{used(std::move(Axes))}, None, twins()};
}

void Synchronizer::collect(const Stage &S) {
  Dense = overCopies({Axis::Cp, Axis::Dp});
  Expert = overCopies({Axis::Edp});
  Replicated = {{{Axis::Tp}}, None};
  Tied = {{{Axis::Pp}, GroupMembers::Ends}, None};
  ExpertBias = overReplicas({Axis::Tp, Axis::Cp, Axis::Dp});
  const TiedHead At = tiedHeadOf(P.Spec.Parallel);
  struct Sum {
    Buffer *Into;
    ExprId LayerCounts::*OfLayer;
    llvm::SmallVector<ExprId, 4> Terms = {}; ///< by block
  } Sums[] = {{&Dense, &LayerCounts::Dense},
              {&Expert, &LayerCounts::Expert},
              {&Replicated, &LayerCounts::Replicated},
              {&ExpertBias, &LayerCounts::ExpertBias}};
  for (auto [Index, Count] : layersByBlock(S)) {
    const Expr Layers = ofStage(P, S, KeyId::StageLayers, Index, Count);
    const LayerCounts &Each = countsOf(Index, At);
    for (auto &[Into, OfLayer, Terms] : Sums)
      Terms.push_back(Layers * Expr(P.Sizes, Each.*OfLayer));
  }
  for (auto &[Into, OfLayer, Terms] : Sums)
    Into->Count = sumOf(P, Terms);
  if (!*P.Spec.Model.Tied || At == TiedHead::BesideEmbedding ||
      (S.ReceivesForward && S.SendsForward))
    return;
  const Block &Embedding = P.Blocks[P.Layers.front().Runs.front().Block];
  for (const Value *G : paramGradients(Embedding))
    if (G->Type.indexOf(DimKind::Vocab) >= 0)
      Tied.Count = {P.Sizes, G->OnRank.Id};
}

static void setPartial(Value &V, llvm::ArrayRef<Group> Over) {
  for (const Group &G : Over)
    for (Axis A : G.Axes)
      V.Layout.setPartial(A);
}

/// A value of which every rank along the axes of \p Of holds a term.
ValueId Synchronizer::terms(BlockBuilder &Build, llvm::StringRef Name,
                            ElementType Element, const Buffer &Of) {
  Dim Flat{DimKind::Flat, Of.Count};
  ValueId V = Build.value(ValueKind::Activation, Name, {Element, {Flat}});
  setPartial(Build.block().Values[V], Of.Group);
  setPartial(Build.block().Values[V], Of.Copies);
  return V;
}

/// The sum of the terms \p V, whole or in shares.
ValueId Synchronizer::sumOver(BlockBuilder &Build, ValueId V, const Group &Of,
                              bool Sharded) {
  if (Of.empty())
    return V;
  Block &B = Build.block();
  ValueId R = Build.derived(V, "sum");
  for (Axis A : Of.Axes)
    if (Sharded)
      B.Values[R].Layout.setFlat(A);
    else
      B.Values[R].Layout.setWhole(A);
  Op &O = B.Ops[Build.op(Sharded ? OpKind::ReduceScatter : OpKind::AllReduce,
                         B.Values[V].Name, {V}, {R})];
  O.Group = Of;
  return R;
}

/// The same over \p Copies, one after the other, whole.
ValueId Synchronizer::sumOver(BlockBuilder &Build, ValueId V,
                              llvm::ArrayRef<Group> Copies) {
  for (const Group &Of : Copies)
    V = sumOver(Build, V, Of, /*Sharded=*/false);
  return V;
}

ValueId Synchronizer::sum(BlockBuilder &Build, ValueId V, const Buffer &Of,
                          bool Sharded) {
  return sumOver(Build, sumOver(Build, V, Of.Group, Sharded), Of.Copies);
}

ValueId Synchronizer::reduce(BlockBuilder &Build, llvm::StringRef Name,
                             const Buffer &From, bool Sharded) {
  ValueId G = terms(Build, ("grads." + Name).str(), gradType(P), From);
  Build.block().Values[G].Kind = ValueKind::Gradient;
  return sum(Build, G, From, Sharded);
}

/// The bias of a router grows for experts that got too few tokens. The counts
/// of all layers go together (Megatron-LM, _update_router_expert_bias).
void Synchronizer::updateExpertBias(BlockBuilder &Build) {
  if (ExpertBias.empty() ||
      (ExpertBias.Group.empty() && ExpertBias.Copies.empty()))
    return;
  Build.setOrigin(P.Spec.Model.LayersRange, "expert bias of routers");
  ValueId Counts =
      terms(Build, "tokens_per_expert", ElementType::FP32, ExpertBias);
  sum(Build, Counts, ExpertBias, /*Sharded=*/false);
}

/// What one rank has, on every rank of \p To.
static ValueId broadcast(BlockBuilder &Build, ValueId V, const Group &To) {
  Block &B = Build.block();
  ValueId Known = Build.derived(V, "broadcast");
  for (Axis A : To.Axes)
    B.Values[Known].Layout.setWhole(A);
  OpId Id = Build.op(OpKind::Broadcast, B.Values[V].Name, {V}, {Known});
  B.Ops[Id].Group = To;
  return Known;
}

/// The number of tokens that gradients are divided by. The stage with the head
/// knows that of its replica (Megatron-LM, finalize_model_grads); with two
/// copies each of two stages knows its part of it.
void Synchronizer::sumTokenCounts(BlockBuilder &Build) {
  Buffer One = overReplicas({Axis::Cp, Axis::Dp});
  One.Count = numberOf(P, 1);
  One.Copies = {};
  if (!*P.Spec.Train.PerTokenLoss ||
      (One.Group.empty() && P.Mesh[Axis::Pp] == 1))
    return;
  Build.setOrigin(P.Spec.Train.PerTokenLoss.Range, "loss per token");
  ValueId Count = terms(Build, "num_tokens", ElementType::I32, One);
  if (P.Mesh[Axis::Pp] > 1) {
    const Group Stages{{Axis::Pp}};
    Value &Known = Build.block().Values[Count];
    if (twins().empty()) {
      Known.Layout.setSingle(Axis::Pp);
      Count = broadcast(Build, Count, Stages);
    } else {
      setPartial(Known, Stages);
      Count = sumOver(Build, Count, Stages, /*Sharded=*/false);
    }
  }
  sum(Build, Count, One, /*Sharded=*/false);
}

/// What a rank has of gradients or parameters to update: with ZeRO its share.
ValueId Synchronizer::share(BlockBuilder &Build, llvm::StringRef Name,
                            ValueKind Kind, ElementType Element,
                            const Buffer &Of) {
  Dim Flat{DimKind::Flat, Of.Count};
  ValueId V = Build.value(Kind, Name, {Element, {Flat}});
  if (*P.Spec.Parallel.Zero > 0)
    for (Axis A : Of.Group.Axes)
      Build.block().Values[V].Layout.setFlat(A);
  return V;
}

void Synchronizer::gather(BlockBuilder &Build, ValueId Share,
                          const AxisList &Axes) {
  Block &B = Build.block();
  ValueId All = Build.derived(Share, "gathered");
  for (Axis A : Axes)
    B.Values[All].Layout.setWhole(A);
  OpId Id = Build.op(OpKind::AllGather, B.Values[Share].Name, {Share}, {All});
  B.Ops[Id].Group = {Axes};
}

/// The gradients of \p Of, summed: once an iteration, but for what `shard` has
/// reduced already.
ValueId Synchronizer::gradients(BlockBuilder &Build, llvm::StringRef Name,
                                const Buffer &Of) {
  const int64_t Zero = *P.Spec.Parallel.Zero;
  if (Zero < 2)
    return reduce(Build, Name, Of, /*Sharded=*/Zero == 1);
  ValueId Share = share(Build, ("grads." + Name).str(), ValueKind::Gradient,
                        gradType(P), Of);
  setPartial(Build.block().Values[Share], Of.Copies);
  return sumOver(Build, Share, Of.Copies);
}

Block Synchronizer::stepBlock(const Stage &S) {
  Block Blk;
  Blk.Name = S.Count == 1 ? "step." + std::to_string(S.First)
                          : "step." + std::to_string(S.First) + "-" +
                                std::to_string(S.First + S.Count - 1);
  BlockBuilder Build(Blk, "sync");
  const ParallelSpec &Par = P.Spec.Parallel;
  Blk.Range = Par.Zero.Range.isValid() ? Par.Zero.Range : Par.World.Range;
  const ElementType Stored = elementTypeOf(*P.Spec.Train.Precision);
  llvm::SmallVector<ValueId, 2> Reduced, Updated;
  Build.setOrigin(Blk.Range, "data-parallel gradients");
  for (auto [Name, Of] :
       {std::pair<llvm::StringRef, const Buffer &>("dense", Dense),
        {"expert", Expert}}) {
    if (Of.empty())
      continue;
    Reduced.push_back(gradients(Build, Name, Of));
    Updated.push_back(share(Build, ("params." + Name).str(),
                            ValueKind::Activation, Stored, Of));
  }
  if (!Replicated.empty()) {
    Build.setOrigin(Par.SequenceParallel.Range, "replicated over tp");
    reduce(Build, "sequence_parallel", Replicated, /*Sharded=*/false);
  }
  if (!Tied.empty()) {
    Build.setOrigin(P.Spec.Model.Tied.Range, "tied embedding, first and last");
    reduce(Build, "word_embeddings", Tied, /*Sharded=*/false);
  }
  updateExpertBias(Build);
  sumTokenCounts(Build);
  Build.setOrigin(Blk.Range, "updated parameters");
  Build.op(OpKind::Optimizer, "optimizer", Reduced, Updated);
  for (ValueId Share : Updated)
    if (const AxisList Axes = flatAxes(Blk.Values[Share].Layout);
        !Axes.empty() && *Par.Zero < 3)
      gather(Build, Share, Axes);
  for (Op &O : Blk.Ops)
    O.Phase = Phase::Step;
  return Blk;
}

/// Whether the bytes of all of \p Blk, over all ranks, can be counted.
static bool isCountable(const Program &P, const Block &Blk) {
  return llvm::none_of(Blk.Values, [&](const Value &V) {
    return bytesOfAll(P, V.Type).isOverflow();
  });
}

bool Synchronizer::run() {
  for (Stage &S : P.Stages) {
    collect(S);
    if (!Dense.Count.hasValue() || !Expert.Count.hasValue() ||
        !ExpertBias.Count.hasValue()) {
      Diags.report(P.Spec.Model.LayersRange, diag::SizeOverflow,
                   "number of parameters of a stage");
      return false;
    }
    S.Step = P.Blocks.add(stepBlock(S));
    if (!isCountable(P, P.Blocks[S.Step])) {
      Diags.report(P.Spec.Model.LayersRange, diag::SizeOverflow,
                   "the size of all gradients of a stage");
      return false;
    }
    measure(P, P.Blocks[S.Step]);
  }
  return true;
}

bool foretrace::syncGradients(Program &P, DiagnosticEngine &Diags) {
  return Synchronizer(P, Diags).run();
}
