// SPDX-License-Identifier: Apache-2.0
//
// What a stage amounts to on one rank. How layers are split over stages, and
// how many micro-batches a schedule has on their way, follows from numbers in
// ways that no expression says; these counts are numbers of the stage.

#include "analysis/Analyses.h"
#include "analysis/SavedLayers.h"
#include "analysis/Units.h"
#include "ir/model/Boundary.h"
#include "ir/model/OpKinds.h"
#include "ir/model/SpecKeys.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace foretrace;
using namespace foretrace::ir;

namespace {

class StageSummer {
public:
  StageSummer(Program &P, Stage &S)
      : P(P), S(S), MicroBatches(microBatchesOfChunk(P)) {}

  void run();

private:
  Expr count(KeyId Id, unsigned Block, int64_t Value, unsigned Slot = 0) {
    return ofStage(P, S, Id, Block, Value, Slot);
  }
  Expr activations(const SavedLayers &Saved);
  void addHeld(llvm::SmallVectorImpl<ExprId> &Weights);
  void addBoundaries();

  Program &P;
  Stage &S;
  const Expr MicroBatches; ///< that go through each chunk
};

} // namespace

Expr foretrace::ofStage(ExprScope P, const Stage &S, KeyId Id, unsigned Block,
                        int64_t Value, unsigned Slot) {
  const Expr Number = numberOf(P, Value);
  if (Block != Key::NoBlock && !isModelBlock(P, Block))
    return Number;
  const Key K = {Id, Block, static_cast<unsigned>(&S - P->Stages.data()), Slot};
  return {P.Sizes, P.Sizes.define(K, Number)};
}

/// Returns the numbers of messages of a stage to other stages for a
/// micro-batch, by boundary. That of the hidden state is always there.
static std::map<unsigned, int64_t> messagesByBoundary(const Program &P,
                                                      int64_t Stage) {
  std::map<unsigned, int64_t> Sent = {{0, 0}};
  for (const StageMessages &M : messagesOf(P, Stage))
    Sent[M.Boundary.Index] += M.Count;
  return Sent;
}

std::vector<StageCount> foretrace::countStages(const Program &P) {
  std::vector<StageCount> All;
  for (const auto &[Index, S] : llvm::enumerate(P.Stages)) {
    const auto Kind = static_cast<unsigned>(Index);
    auto Add = [&](KeyId Id, unsigned Block, int64_t Count, unsigned Slot = 0) {
      All.push_back({{Id, Block, Kind, Slot}, Count});
    };
    for (const auto &[Block, Count] : layersByBlock(S))
      Add(KeyId::StageLayers, Block, Count);
    const SavedLayers Saved = savedLayers(P, S);
    for (const auto &[Slot, Layers] : llvm::enumerate(Saved.All))
      for (const auto &[Block, Count] : Layers)
        Add(KeyId::StageKept, Block, Count, static_cast<unsigned>(Slot));
    unsigned Slot = 0;
    for (const SavedLayers::Running &R : Saved.Steps)
      for (const LayerCounts &Layers : R.Beside) {
        for (const auto &[Block, Count] : Layers)
          Add(KeyId::StageBeside, Block, Count, Slot);
        ++Slot;
      }
    if (hasUnits(P) || S.Chunks.size() > 1 || S.Chunks.front().Count > 1)
      for (const auto &[Of, C] : llvm::enumerate(S.Chunks))
        for (const auto &[Block, Count] : layersByBlock(C.Layers))
          Add(KeyId::StageChunk, Block, Count, firstChunk(S, Of));
    for (const auto &[Boundary, Count] : messagesByBoundary(P, S.First))
      Add(KeyId::StageMessages, Key::NoBlock, Count, Boundary);
    Add(KeyId::StageInFlight, Key::NoBlock, Saved.InFlight);
  }
  return All;
}

void StageSummer::addBoundaries() {
  for (const auto &[Boundary, Count] : messagesByBoundary(P, S.First))
    if (Count > 0)
      addMessages(S.Totals.Messages, {{Axis::Pp}},
                  count(KeyId::StageMessages, Key::NoBlock, Count, Boundary) *
                      MicroBatches * boundarySize(P, BoundaryId(Boundary)));
}

/// The most bytes, not those when most micro-batches are in flight: chunks may
/// save unlike amounts.
Expr StageSummer::activations(const SavedLayers &Saved) {
  std::optional<Expr> Most;
  for (const auto &[Slot, Layers] : llvm::enumerate(Saved.All)) {
    llvm::SmallVector<ExprId, 4> Terms;
    for (const auto &[Block, Count] : Layers)
      Terms.push_back(
          count(KeyId::StageKept, Block, Count, static_cast<unsigned>(Slot)) *
          Expr(P.Sizes, P.Blocks[BlockId(Block)].Totals.Kept.Id));
    const Expr Sum = sumOf(P, Terms);
    Most = Most ? max(*Most, Sum) : Sum;
  }
  return Most ? *Most : numberOf(P, 0);
}

/// Adds what an engine holds beside parameters: of each layer, and tables once
/// for all layers of the stage that have the same one.
void StageSummer::addHeld(llvm::SmallVectorImpl<ExprId> &Weights) {
  struct Table {
    const TensorType *Type;
    ExprId Number;
  };
  llvm::SmallVector<Table, 4> Tables;
  auto Equal = [&](ExprId A, ExprId B) {
    return equal(Expr(P.Sizes, A), Expr(P.Sizes, B));
  };
  auto AreEqual = [&](const Table &A, const Table &B) {
    Expr Are =
        Equal(A.Number, B.Number) * int64_t(A.Type->Element == B.Type->Element);
    for (const auto &[Of, With] : llvm::zip_equal(A.Type->Dims, B.Type->Dims))
      Are *= Equal(Of.Size, With.Size);
    return Are;
  };
  for (const auto &[Index, Count] : layersByBlock(S)) {
    const Block &B = P.Blocks[BlockId(Index)];
    for (const Op &O : B.Ops) {
      if (O.Kind != OpKind::Hold)
        continue;
      const Value &V = B.Values[O.Results.front()];
      Expr Times = count(KeyId::StageLayers, Index, Count);
      if (O.Stated.isValid()) {
        Times = numberOf(P, 1);
        for (const Table &Known : Tables)
          Times *= AreEqual(Known, {&V.Type, O.Stated}) * int64_t(-1) + 1;
        Tables.push_back({&V.Type, O.Stated});
      }
      Weights.push_back(Times * bytesOnRank(P, V));
    }
  }
}

void StageSummer::run() {
  using Terms = llvm::SmallVector<ExprId, 4>; // by block
  Terms Parameters, Weights, Gradients, Optimizer, Update, Work;
  S.Totals.Messages.clear();
  const SavedLayers Saved = savedLayers(P, S);
  for (const auto &[Index, Count] : layersByBlock(S)) {
    const BlockTotals &Of = P.Blocks[BlockId(Index)].Totals;
    const Expr Layers = count(KeyId::StageLayers, Index, Count);
    auto Add = [&](Terms &To, Expr Times, auto Each) {
      To.push_back(Times * Expr(P.Sizes, Each.Id));
    };
    Add(Parameters, Layers, Of.Parameters);
    Add(Weights, Layers, Of.Weights);
    Add(Gradients, Layers, Of.Gradients);
    Add(Optimizer, Layers, Of.Optimizer);
    Add(Update, Layers, Of.Update);
    Add(Work, Layers * MicroBatches, Of.Work);
    for (const GroupBytes &G : Of.Messages)
      addMessages(S.Totals.Messages, G.Of,
                  Layers * MicroBatches * Expr(P.Sizes, G.Size.Id));
  }
  addHeld(Weights);
  for (const Op &O : P.Blocks[S.Step].Ops)
    if (isCollective(O.Kind) && O.Group.size(P.Mesh) > 1)
      addMessages(S.Totals.Messages, O.Group, {P.Sizes, O.Message.Id});
  addBoundaries();
  count(KeyId::StageInFlight, Key::NoBlock, Saved.InFlight);
  S.Totals.Parameters = sumOf(P, Parameters);
  S.Totals.Weights = sumOf(P, Weights);
  S.Totals.Gradients = sumOf(P, Gradients);
  S.Totals.Optimizer = sumOf(P, Optimizer);
  S.Totals.Update = sumOf(P, Update);
  S.Totals.Activations = activations(Saved);
  S.Totals.Work = sumOf(P, Work);
}

void foretrace::totalStage(Program &P, Stage &S) { StageSummer(P, S).run(); }
