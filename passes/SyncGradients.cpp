// SPDX-License-Identifier: Apache-2.0
//
// sync: what every stage does once an iteration, after the last micro-batch:
// sum the gradients that `shard` left partial, first over replicas, then over
// tp, then of the tied embedding (Megatron-LM, finalize_model_grads) and of
// weights that layers of all stages share, update,
// and with ZeRO 1 or 2 gather the updated parameters. With ZeRO 2
// and 3 `shard` has already reduced them, every micro-batch, and each rank
// updates its share. GradientBuffers says which are summed together.
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

#include "analysis/Analyses.h"
#include "analysis/LayerCounts.h"
#include "ir/model/OpKinds.h"
#include "ir/model/Shares.h"
#include "lang/NumberText.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Passes.h"
#include "passes/BlockBuilder.h"
#include "passes/GradientBuffers.h"
#include "passes/Passes.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

class Synchronizer {
public:
  Synchronizer(Program &P, DiagnosticEngine &Diags)
      : P(P), Diags(Diags), Buffers(P) {}

  bool run();

private:
  using Buffer = GradientBuffer;

  Buffer wholeWeights(const Stage &S);
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
  void updated(BlockBuilder &Build, const std::string &Name,
               const GradientBucket &Of, llvm::SmallVectorImpl<ValueId> &Out);
  OpId gather(BlockBuilder &Build, ValueId Share, const AxisList &Axes);

  Program &P;
  DiagnosticEngine &Diags;
  GradientBuffers Buffers; ///< of the stage at hand
  /// In which values of the block at hand travel, if not in one message.
  llvm::DenseMap<unsigned, MessageList> Messages;
};

ElementType reducedType(const Program &P) {
  return elementTypeOf(*P.Spec.Train.ReducePrecision);
}

} // namespace

static AxisList flatAxes(const Layout &L) {
  AxisList Axes;
  for (Axis A : allAxes())
    if (L.isFlat(A))
      Axes.push_back(A);
  return Axes;
}

static void setPartial(Value &V, llvm::ArrayRef<Group> Over) {
  for (const Group &G : Over)
    for (Axis A : G.Axes)
      V.Layout.setPartial(A);
}

/// Adds a value that is a partial sum on every rank along the axes of \p Of.
ValueId Synchronizer::terms(BlockBuilder &Build, llvm::StringRef Name,
                            ElementType Element, const Buffer &Of) {
  Dim Flat{DimKind::Flat, Of.Count};
  ValueId V = Build.value(ValueKind::Activation, Name, {Element, {Flat}});
  setPartial(Build.block().Values[V], Of.Group);
  setPartial(Build.block().Values[V], Of.Copies);
  Messages[V.Index] = Of.Messages;
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
  O.Messages = Messages.lookup(V.Index);
  Messages[R.Index] = O.Messages;
  return R;
}

/// Sums \p V over each of \p Copies, one after the other, unsharded.
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
  ValueId G = terms(Build, ("grads." + Name).str(), reducedType(P), From);
  Build.block().Values[G].Kind = ValueKind::Gradient;
  return sum(Build, G, From, Sharded);
}

/// The bias of a router grows for experts that got too few tokens. The counts
/// of all layers go together, in the type of the model, to which buffers are
/// converted with it (Megatron-LM, _update_router_expert_bias; Float16Module).
void Synchronizer::updateExpertBias(BlockBuilder &Build) {
  if (Buffers.ExpertBias.empty() ||
      (Buffers.ExpertBias.Group.empty() && Buffers.ExpertBias.Copies.empty()))
    return;
  Build.setOrigin(P.Spec.Model.LayersRange, "expert bias of routers");
  ValueId Counts =
      terms(Build, "tokens_per_expert", elementTypeOf(*P.Spec.Train.Precision),
            Buffers.ExpertBias);
  sum(Build, Counts, Buffers.ExpertBias, /*Sharded=*/false);
}

/// Broadcasts the value of one rank to all ranks of \p To.
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
  // Up to core 0.12 without cp (distributed/finalize_model_grads.py).
  Buffer One =
      Buffers.overReplicas(*P.Spec.Parallel.Megatron < MegatronVersion::V0_13
                               ? AxisList{Axis::Dp}
                               : AxisList{Axis::Cp, Axis::Dp});
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
    if (Buffers.twins().empty()) {
      Known.Layout.setSingle(Axis::Pp);
      Count = broadcast(Build, Count, Stages);
    } else {
      setPartial(Known, Stages);
      Count = sumOver(Build, Count, Stages, /*Sharded=*/false);
    }
  }
  sum(Build, Count, One, /*Sharded=*/false);
}

/// Returns a rank's part of gradients or parameters to update: with ZeRO its
/// share. In DeepSpeed shares begin at multiples of two elements (runtime/zero/
/// stage_1_and_2.py, nccl_start_alignment_factor).
ValueId Synchronizer::share(BlockBuilder &Build, llvm::StringRef Name,
                            ValueKind Kind, ElementType Element,
                            const Buffer &Of) {
  const ParallelSpec &Par = P.Spec.Parallel;
  const bool IsFilled =
      isDeepSpeed(Par) && gathersUpdated(P) && !Of.Group.empty();
  Dim Flat{DimKind::Flat,
           IsFilled ? roundUp(Of.Count, sizeOf(P, Of.Group) * 2) : Of.Count};
  ValueId V = Build.value(Kind, Name, {Element, {Flat}});
  if (*Par.Zero > 0)
    for (Axis A : Of.Group.Axes)
      Build.block().Values[V].Layout.setFlat(A);
  Messages[V.Index] = Of.Messages;
  return V;
}

OpId Synchronizer::gather(BlockBuilder &Build, ValueId Share,
                          const AxisList &Axes) {
  Block &B = Build.block();
  ValueId All = Build.derived(Share, "gathered");
  for (Axis A : Axes)
    B.Values[All].Layout.setWhole(A);
  OpId Id = Build.op(OpKind::AllGather, B.Values[Share].Name, {Share}, {All});
  B.Ops[Id].Group = {Axes};
  B.Ops[Id].Messages = Messages.lookup(Share.Index);
  return Id;
}

/// The gradients of \p Of, summed: once an iteration, but for what `shard` has
/// reduced already.
ValueId Synchronizer::gradients(BlockBuilder &Build, llvm::StringRef Name,
                                const Buffer &Of) {
  const int64_t Zero = *P.Spec.Parallel.Zero;
  // DeepSpeed sums them whole (runtime/zero/stage_1_and_2.py).
  if (Zero < 2)
    return reduce(Build, Name, Of,
                  /*Sharded=*/Zero == 1 && !isDeepSpeed(P.Spec.Parallel));
  ValueId Share = share(Build, ("grads." + Name).str(), ValueKind::Gradient,
                        reducedType(P), Of);
  setPartial(Build.block().Values[Share], Of.Copies);
  return sumOver(Build, Share, Of.Copies);
}

/// Adds what is updated of the parameters of a bucket (Megatron-LM,
/// param_and_grad_buffer.py, has a buffer for each type of parameters).
void Synchronizer::updated(BlockBuilder &Build, const std::string &Name,
                           const GradientBucket &Bucket,
                           llvm::SmallVectorImpl<ValueId> &Out) {
  const TrainSpec &Train = P.Spec.Train;
  const ElementType Type = elementTypeOf(
      gathersUpdated(P) ? *Train.GatherPrecision : *Train.WeightPrecision);
  const ElementType Plain =
      isScaled(Type) ? elementTypeOf(*Train.Precision) : Type;
  auto Add = [&](const std::string &Name, ElementType T, const Buffer &Of) {
    if (!Of.empty())
      Out.push_back(share(Build, Name, ValueKind::Activation, T, Of));
  };
  Add(Name, Plain, Bucket.Plain);
  Add(Name + "." + getName(Type).str(), Type, Bucket.Scaled);
}

/// Weights that ranks have whole, though each updates its share (DeepSpeed,
/// runtime/zero/stage3.py, _post_step).
GradientBuffer Synchronizer::wholeWeights(const Stage &S) {
  Buffer Whole = Buffers.overCopies({Axis::Cp, Axis::Dp});
  llvm::SmallVector<ExprId, 4> Counts;
  for (const auto &[Index, Layers] : layersByBlock(S))
    Counts.push_back(ofStage(P, S, KeyId::StageLayers, Index, Layers) *
                     wholeWeightsOf(P, P.Blocks[BlockId(Index)]));
  Whole.Count = sumOf(P, Counts);
  return Whole;
}

Block Synchronizer::stepBlock(const Stage &S) {
  Block Blk;
  Blk.Name = "step." + printRange({S.First, S.Count});
  BlockBuilder Build(Blk, "sync");
  Messages.clear();
  const ParallelSpec &Par = P.Spec.Parallel;
  Blk.Range = Par.Zero.Range.isValid() ? Par.Zero.Range : Par.World.Range;
  llvm::SmallVector<ValueId, 2> Reduced, Updated;
  Build.setOrigin(Blk.Range, "data-parallel gradients");
  llvm::SmallVector<std::optional<int64_t>, 2> Chunks; // of what is updated
  // Only the first sum of a chunk is one that the schedule starts.
  auto Reduce = [&](const GradientBucket &B, bool IsFirst) {
    const size_t First = Blk.Ops.size();
    const ValueId Sum = gradients(Build, B.Name, B.All);
    for (size_t N = First; IsFirst && N < Blk.Ops.size(); ++N)
      Blk.Ops[Blk.Ops.idAt(N)].Chunk = B.Chunk;
    return Sum;
  };
  const int64_t Sums = sumsOf(P, S);
  for (int64_t I = 1; I < Sums; ++I)
    for (const GradientBucket &B : Buffers.Buckets)
      Reduce(B, I == 1);
  for (const GradientBucket &B : Buffers.Buckets) {
    Reduced.push_back(Reduce(B, Sums == 1));
    updated(Build, ("params." + B.Name).str(), B, Updated);
    Chunks.resize(Updated.size(), B.Chunk);
  }
  if (!Buffers.Replicated.empty()) {
    Build.setOrigin(Par.SequenceParallel.Range, "replicated over tp");
    reduce(Build, "sequence_parallel", Buffers.Replicated, /*Sharded=*/false);
  }
  if (!Buffers.Tied.empty()) {
    Build.setOrigin(P.Spec.Model.Tied.Range, "tied embedding, first and last");
    reduce(Build, "word_embeddings", Buffers.Tied, /*Sharded=*/false);
  }
  if (!Buffers.Shared.empty()) {
    Build.setOrigin(P.Spec.Model.LayersRange, "weights of all stages");
    reduce(Build, "shared", Buffers.Shared, /*Sharded=*/false);
  }
  updateExpertBias(Build);
  sumTokenCounts(Build);
  Build.setOrigin(Blk.Range, "updated parameters");
  // With ZeRO 3 no others are gathered.
  const size_t NumKept = keepsSomeWhole(P) ? Updated.size() : 0;
  if (NumKept != 0) {
    const Buffer Whole = wholeWeights(S);
    ExprId &Rest = Blk.Values[Updated.front()].Type.Dims.front().Size;
    Rest = max(Expr(P.Sizes, Rest) + Whole.Count * -1, numberOf(P, 0));
    Updated.push_back(share(Build, "params.whole", ValueKind::Activation,
                            elementTypeOf(*P.Spec.Train.WeightPrecision),
                            Whole));
  }
  Chunks.resize(Updated.size());
  Build.op(OpKind::Optimizer, "optimizer", Reduced, Updated);
  for (int64_t I = 0; I < gathersOf(P); ++I)
    for (const auto &[Share, Chunk] :
         llvm::drop_begin(llvm::zip_equal(Updated, Chunks), NumKept))
      if (const AxisList Axes = flatAxes(Blk.Values[Share].Layout);
          !Axes.empty())
        Blk.Ops[gather(Build, Share, Axes)].Chunk = Chunk;
  for (Op &O : Blk.Ops)
    O.Phase = Phase::Step;
  return Blk;
}

/// Returns whether the bytes of all of \p Blk, over all ranks, can be counted.
static bool isCountable(const Program &P, const Block &Blk) {
  return llvm::none_of(Blk.Values, [&](const Value &V) {
    return bytesOfAll(P, V.Type).isOverflow();
  });
}

bool Synchronizer::run() {
  for (Stage &S : P.Stages) {
    Buffers.collect(S);
    for (const GradientBucket &B : Buffers.Buckets)
      if (const int64_t Count = messageCount(B.All.Messages);
          Count > MostMessages) {
        Diags.report(P.Spec.Parallel.DdpBucketSize.Range, diag::TooManyBuckets,
                     Count, MostMessages);
        return false;
      }
    if (!Buffers.ExpertBias.Count.hasValue() ||
        !llvm::all_of(Buffers.Buckets, [](const GradientBucket &B) {
          return B.All.Count.hasValue();
        })) {
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
  if (P.Spec.Serve) {
    for (Stage &S : P.Stages) { // with nothing to do after a step
      Block Blk;
      Blk.Name = "step." + printRange({S.First, S.Count});
      Blk.Range = P.Spec.Serve->Range;
      S.Step = P.Blocks.add(std::move(Blk));
    }
    return true;
  }
  return Synchronizer(P, Diags).run();
}
