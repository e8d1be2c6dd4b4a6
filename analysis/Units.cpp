// SPDX-License-Identifier: Apache-2.0
#include "analysis/Units.h"
#include "analysis/Analyses.h"
#include "analysis/Parameters.h"
#include "ir/model/Shares.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// The least suggested_communication_unit_size (megatron_fsdp.py,
/// MegatronFSDP.__init__).
static constexpr int64_t LeastUnitSize = 1'000'000'000;

/// Embedding and head belong to no unit.
static bool isLayer(const Program &P, unsigned Block) {
  return P.Spec.Model.findBlock(P.Blocks[BlockId(Block)].Name) != nullptr;
}

/// Bytes of an element of a gradient before it is reduced.
static int64_t bytesOfReduced(const Program &P) {
  return bytesPerElement(elementTypeOf(*P.Spec.Train.ReducePrecision));
}

static Expr minus(Expr L, Expr R) { return L + R * -1; }
static Expr excess(Expr L, Expr R) { return minus(max(L, R), R); }

bool foretrace::hasUnits(const Program &P) {
  return *P.Spec.Parallel.Zero >= 2;
}

Unit foretrace::unitOf(ExprScope P, const Block &B) {
  const Expr None = numberOf(P, 0);
  if (!hasUnits(*P))
    return {None, None, None, None, None, false};
  const TiedHead At = tiedHeadOf(P->Spec.Parallel);
  llvm::SmallVector<ExprId, 32> Sizes, OfOthers, Trained;
  llvm::MapVector<ElementType, llvm::SmallVector<ExprId, 32>> Gathered;
  for (const auto &[Index, V] : llvm::enumerate(B.Values)) {
    if (!isStored(V, At) || shareAxes(P, V.Type).empty() ||
        isBuffer(B.Ops, B.Values.idAt(Index)))
      continue;
    Sizes.push_back(unsharedElements(P, V));
    Gathered[V.Gathered.value_or(V.Type.Element)].push_back(Sizes.back());
    if (!V.Frozen)
      Trained.push_back(Sizes.back());
    if (!V.Type.isOfExperts())
      OfOthers.push_back(Sizes.back());
  }
  llvm::SmallVector<ExprId, 2> Weights;
  if (sharesWeights(*P))
    for (const auto &[Type, Of] : Gathered)
      Weights.push_back(bytesOf(P, sumOf(P, Of), Type, ScaledBlocks::Weight));
  const bool IsOneBucket =
      !Sizes.empty() && (OfOthers.empty() || OfOthers.size() == Sizes.size());
  const Expr All = sumOf(P, Weights);
  return {sumOf(P, Sizes),
          sumOf(P, OfOthers.empty() ? Sizes : OfOthers),
          All,
          All * freesWeights(P),
          sumOf(P, Trained) * bytesOfReduced(P),
          IsOneBucket};
}

namespace {

/// The layers of a chunk: their totals, and the sizes of the extreme ones.
struct Neighbours {
  explicit Neighbours(ExprScope P)
      : Layers(numberOf(P, 0)), Elements(Layers), Smallest(Layers),
        Largest(Layers), LastBucket(Layers), Capacity(Layers) {}

  void add(const Unit &U, Expr Count) {
    const bool IsFirst = Elements.isConstant(0);
    Smallest = IsFirst ? U.Elements : min(Smallest, U.Elements);
    Largest = max(Largest, U.Elements);
    LastBucket = max(LastBucket, U.LastBucket);
    Layers += Count;
    Elements += U.Elements * Count;
    AnyOneBucket |= U.IsOneBucket;
  }

  Expr Layers;               ///< of the chunk
  Expr Elements;             ///< of all of them
  Expr Smallest, Largest;    ///< of one
  Expr LastBucket;           ///< the largest
  Expr Capacity;             ///< elements that may wait to be reduced
  bool AnyOneBucket = false; ///< of them
  std::optional<Unit> Head;  ///< that runs after these layers
};

/// Layers of a chunk that are all alike.
class AlikeLayers {
public:
  /// \p AreCounted: saved activations of the layers after the running one are
  /// counted.
  AlikeLayers(ExprScope P, const Block &B, const Neighbours &Among,
              bool AreCounted)
      : P(P), Of(unitOf(P, B)),
        Saved(AreCounted ? Expr(P.Sizes, B.Totals.Kept.Id) : numberOf(P, 0)),
        Others(Among.Layers + int64_t(-1)), Among(Among) {}

  Expr forward() const { return ahead() * excess(Of.Weights, Saved); }
  Expr backward() const;

private:
  Expr number(int64_t Value) const { return numberOf(P, Value); }
  Expr ahead() const;
  Expr onTheirWay(Expr Before) const;
  Expr waiting(Expr Before) const {
    return onTheirWay(Before) + (Among.AnyOneBucket ? 1 : 0);
  }
  Expr heaviest(Expr Waiting) const;

  ExprScope P;
  const Unit Of;
  const Expr Saved, Others;
  const Neighbours &Among;
};

} // namespace

/// Layers that are gathered ahead: so many that they have at least half of what
/// may wait (param_and_grad_buffer.py, AllGatherPipeline.all_gather_params).
Expr AlikeLayers::ahead() const {
  const auto &Stated = P->Spec.Parallel.ZeroPrefetch;
  return min(Stated.isPresent()
                 ? exprOf(P, Stated)
                 : ceilDiv(floorDiv(Among.Capacity, number(2)), Of.Elements),
             Others);
}

/// Layers whose gradients are reduced, beside those of \p Before elements, as
/// another reduction begins, if there are enough of them: earlier ones have
/// been waited for until there was room (GradReducePipeline.reduce_gradients,
/// wait_for_previous_grad_reduce). Below zero if those before are through.
/// While the gradients of the next layer are made there is one more; but those
/// of experts are reduced before the rest of their layer is made.
Expr AlikeLayers::onTheirWay(Expr Before) const {
  return floorDiv(minus(Among.Capacity, Before), Of.Elements);
}

/// Memory of the layers that do not run, if \p Waiting of them may wait.
/// Waiting layers ran before, prefetched layers run next. The maximum is
/// reached when either as many as possible wait, or as many as leave all that
/// can be prefetched.
Expr AlikeLayers::heaviest(Expr Waiting) const {
  const Expr Ahead = ahead(), OfOneMore = excess(Of.Gradients, Saved);
  const Expr Most = min(Waiting, Others);
  const Expr Fewer = min(Most, minus(Others, Ahead));
  return max(Of.Weights * min(Ahead, minus(Others, Most)) + OfOneMore * Most,
             Of.Weights * Ahead + OfOneMore * Fewer);
}

/// Gradients of the head are the first that wait.
Expr AlikeLayers::backward() const {
  const Expr Alone = heaviest(waiting(number(0)));
  if (!Among.Head)
    return Alone;
  const Expr Behind = max(waiting(Among.Head->Elements), number(0));
  return max(Alone, Among.Head->Gradients + heaviest(Behind));
}

/// Elements that may wait to be reduced: with ZeRO 3 those of two layers of
/// mean size, if they are more than the least (megatron_fsdp.py).
static Expr capacityOf(ExprScope P, const Neighbours &Among) {
  const ParallelSpec &Par = P->Spec.Parallel;
  const Expr Mean = floorDiv(Among.Elements, max(Among.Layers, numberOf(P, 1)));
  if (Par.ZeroPrefetch.isPresent())
    return Mean * exprOf(P, Par.ZeroPrefetch) * 2;
  const Expr Least = numberOf(P, LeastUnitSize);
  return *Par.Zero == 3 ? max(Least, Mean * 2) : Least;
}

/// Elements that wait when all layers are done. Before the last bucket joins
/// them they are no more than may wait, and the head is still among them only
/// if all layers are.
static Expr waitingAtEnd(const Neighbours &Among, bool AreAlike) {
  const Expr Room = Among.Capacity + Among.LastBucket, Layer = Among.Largest;
  const Expr Whole = floorDiv(Among.Capacity, Among.Smallest) * Layer;
  const Expr Most =
      AreAlike ? max(Whole + Among.LastBucket, floorDiv(Room, Layer) * Layer)
               : min(Room, Whole + Layer);
  const Expr OfLayers = min(Among.Elements, Most);
  if (!Among.Head)
    return OfLayers;
  const Expr All = Among.Elements + Among.Head->Elements;
  return OfLayers + Among.Head->Elements * less(All, Room + 1);
}

/// The block of the last layer of a chunk that has any.
static std::optional<unsigned> lastLayerOf(const Program &P,
                                           const LayerSequence &Chunk) {
  for (const LayerGroup &G : llvm::reverse(Chunk))
    for (const BlockRun &R : llvm::reverse(G.Runs))
      if (isLayer(P, R.Block.Index))
        return R.Block.Index;
  return std::nullopt;
}

ChunkUnits::ChunkUnits(ExprScope P, const Stage &S, unsigned Kind)
    : P(P), LastLayer(lastLayerOf(*P, S.Chunks[Kind].Layers)),
      Ends(numberOf(P, 0)), Kept(Ends), OfLast{Ends, Ends}, OfOther{Ends, Ends},
      Embedding(Ends) {
  if (!hasUnits(*P))
    return;
  const LayerSequence &Chunk = S.Chunks[Kind].Layers;
  auto BlockOf = [&](unsigned I) -> const Block & {
    return P->Blocks[BlockId(I)];
  };
  for (const auto &[Block, Count] : layersByBlock(S)) {
    const Unit U = unitOf(P, BlockOf(Block));
    if (isLayer(P, Block))
      Kept += minus(U.Gathered, U.Weights) *
              ofStage(P, S, KeyId::StageLayers, Block, Count);
    else
      Ends += U.Gathered;
  }
  Neighbours Among(P);
  if (!Chunk.empty())
    Last = Chunk.back().Runs.back().Block.Index;
  if (Last && !isLayer(P, *Last))
    Among.Head.emplace(unitOf(P, BlockOf(*Last)));
  llvm::SmallVector<unsigned, 4> Shared;
  for (const auto &[Block, Count] : layersByBlock(Chunk)) {
    if (!isLayer(P, Block))
      continue;
    const Unit U = unitOf(P, BlockOf(Block));
    Among.add(
        U, ofStage(P, S, KeyId::StageChunk, Block, Count, firstChunk(S, Kind)));
    if (!U.Elements.isConstant(0))
      Shared.push_back(Block);
  }
  if (Shared.empty())
    return;
  Among.Capacity = capacityOf(P, Among);
  for (const unsigned Block : Shared) {
    auto AddTo = [&](OtherLayers &To, bool AreCounted) {
      const AlikeLayers Of(P, BlockOf(Block), Among, AreCounted);
      To.Forward = max(To.Forward, Of.forward());
      To.Backward = max(To.Backward, Of.backward());
    };
    AddTo(OfLast, true);
    AddTo(OfOther, false);
  }
  Embedding = waitingAtEnd(Among, Shared.size() == 1) * bytesOfReduced(P);
}

Expr ChunkUnits::at(unsigned Block, bool IsForward) const {
  if (isLayer(P, Block)) {
    const OtherLayers &Others = Block == LastLayer ? OfLast : OfOther;
    return Ends + Kept + unitOf(P, P->Blocks[BlockId(Block)]).Weights +
           (IsForward ? Others.Forward : Others.Backward);
  }
  const Expr Whole = Ends + Kept;
  return IsForward || Block == Last ? Whole : Whole + Embedding;
}
