// SPDX-License-Identifier: Apache-2.0
#include "analysis/Units.h"
#include "analysis/Analyses.h"
#include "analysis/Parameters.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Elements that wait to be reduced at least, in Megatron-FSDP, and half of
/// them that are gathered ahead (megatron_fsdp.py, MegatronFSDP.__init__,
/// suggested_communication_unit_size).
static constexpr int64_t LeastWaiting = 1'000'000'000;

/// Embedding and head belong to no unit.
static bool isLayer(const Program &P, unsigned Block) {
  return P.Spec.Model.findBlock(P.Blocks[BlockId(Block)].Name) != nullptr;
}

static Expr minus(Expr L, Expr R) { return L + R * -1; }
static Expr excess(Expr L, Expr R) { return minus(max(L, R), R); }

bool foretrace::hasUnits(const Program &P) {
  return *P.Spec.Parallel.Zero >= 2;
}

Unit foretrace::unitOf(ExprScope P, const Block &B) {
  const Expr None = numberOf(P, 0);
  if (!hasUnits(*P))
    return {None, None, None, false};
  const TiedHead At = tiedHeadOf(P->Spec.Parallel);
  llvm::SmallVector<ExprId, 32> Sizes;
  bool HasExperts = false, HasOthers = false;
  for (const auto &[Index, V] : llvm::enumerate(B.Values)) {
    if (!isStored(V, At) || shareAxes(P, V.Type).empty() ||
        isBuffer(B.Ops, B.Values.idAt(Index)))
      continue;
    Sizes.push_back(unsharedElements(P, V));
    (isExpertTensor(V.Type) ? HasExperts : HasOthers) = true;
  }
  const Expr Elements = sumOf(P, Sizes);
  const TrainSpec &Train = P->Spec.Train;
  return {Elements,
          Elements * (*P->Spec.Parallel.Zero == 3
                          ? bytesPerElement(*Train.Precision)
                          : 0),
          Elements * bytesPerElement(*Train.GradPrecision),
          HasExperts != HasOthers};
}

namespace {

/// Layers of a chunk that are all alike.
class AlikeLayers {
public:
  AlikeLayers(ExprScope P, const Block &B, const ChunkUnits::Neighbours &Among)
      : P(P), Of(unitOf(P, B)), Saved(P.Sizes, B.Totals.Kept.Id),
        Others(Among.Layers + int64_t(-1)), Among(Among) {}

  Expr forward() const { return ahead() * excess(Of.Weights, Saved); }
  Expr backward() const;
  Expr waitingAtEnd() const;

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
  const ChunkUnits::Neighbours &Among;
};

} // namespace

/// Layers that are gathered ahead: so many that they have at least half of what
/// may wait (param_and_grad_buffer.py, AllGatherPipeline.all_gather_params).
Expr AlikeLayers::ahead() const {
  const auto &Stated = P->Spec.Parallel.ZeroPrefetch;
  return min(Stated.isPresent()
                 ? exprOf(P, Stated)
                 : ceilDiv(number(LeastWaiting / 2), Of.Elements),
             Others);
}

/// Layers whose gradients are reduced, beside those of \p Before elements, as
/// another reduction begins, if there are enough of them: earlier ones have
/// been waited for until there were no more elements than two units have, or
/// the least; with ZeRO 2 than the least (GradReducePipeline.reduce_gradients,
/// wait_for_previous_grad_reduce). Below zero if those before are through.
/// While the gradients of the next layer are made there is one more; but those
/// of experts are reduced before the rest of their layer is made.
Expr AlikeLayers::onTheirWay(Expr Before) const {
  const ParallelSpec &Par = P->Spec.Parallel;
  const Expr Least = number(LeastWaiting);
  const Expr Most = Par.ZeroPrefetch.isPresent()
                        ? Of.Elements * exprOf(P, Par.ZeroPrefetch) * 2
                    : *Par.Zero == 3 ? max(Least, Of.Elements * 2)
                                     : Least;
  return floorDiv(minus(Most, Before), Of.Elements);
}

/// Of other layers than the one that runs, if \p Waiting of them may wait.
/// Those that wait ran before, and those that are gathered ahead will: most is
/// needed when either as many as can be wait, or as many as leave all that can
/// be ahead.
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

/// When all layers are done, and the head waits if all of them do.
Expr AlikeLayers::waitingAtEnd() const {
  const Expr Sum = Of.Gradients * min(onTheirWay(number(0)) + 1, Others + 1);
  if (!Among.Head)
    return Sum;
  const Expr Behind = onTheirWay(Among.Head->Elements) + 1;
  const Expr IsWaiting(P.Sizes, P.Sizes.combine(ExprOp::Less, Others, Behind));
  return Sum + Among.Head->Gradients * IsWaiting;
}

ChunkUnits::ChunkUnits(ExprScope P, const Stage &S, unsigned Kind)
    : P(P), Ends(numberOf(P, 0)), Forward(Ends), Backward(Ends),
      Embedding(Ends) {
  if (!hasUnits(*P))
    return;
  const LayerSequence &Chunk = S.Chunks[Kind].Layers;
  auto BlockOf = [&](unsigned I) -> const Block & {
    return P->Blocks[BlockId(I)];
  };
  for (const auto &[Block, Count] : layersByBlock(S))
    if (!isLayer(P, Block))
      Ends += unitOf(P, BlockOf(Block)).Weights;
  Neighbours Among = {Ends * int64_t(0), false, std::nullopt};
  if (!Chunk.empty())
    Last = Chunk.back().Runs.back().Block.Index;
  if (Last && !isLayer(P, *Last))
    Among.Head.emplace(unitOf(P, BlockOf(*Last)));
  llvm::SmallVector<unsigned, 4> Shared;
  for (const auto &[Block, Count] : layersByBlock(Chunk)) {
    if (!isLayer(P, Block))
      continue;
    Among.Layers += ofStage(P, S, KeyId::StageChunk, Block, Count, Kind);
    const Unit U = unitOf(P, BlockOf(Block));
    Among.AnyOneBucket |= U.IsOneBucket;
    if (!U.Elements.isConstant(0))
      Shared.push_back(Block);
  }
  for (const unsigned Block : Shared) {
    const AlikeLayers Of(P, BlockOf(Block), Among);
    Forward = max(Forward, Of.forward());
    Backward = max(Backward, Of.backward());
    Embedding = max(Embedding, Of.waitingAtEnd());
  }
}

Expr ChunkUnits::at(unsigned Block, bool IsForward) const {
  if (isLayer(P, Block))
    return Ends + unitOf(P, P->Blocks[BlockId(Block)]).Weights +
           (IsForward ? Forward : Backward);
  return IsForward || Block == Last ? Ends : Ends + Embedding;
}
