// SPDX-License-Identifier: Apache-2.0
//
// What a stage amounts to on one rank. How layers are split over stages, and
// how many micro-batches a schedule has on their way, follows from numbers in
// ways that no expression says; these counts are numbers of the stage.

#include "analysis/Analyses.h"
#include "analysis/InFlight.h"
#include "analysis/LayerCounts.h"
#include "ir/model/Boundary.h"
#include "ir/model/SpecKeys.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

class StageSummer {
public:
  StageSummer(Program &P, Stage &S)
      : P(P), S(S), MicroBatches(microBatchesOfChunk(P)) {}

  void run();

private:
  Expr count(KeyId Id, unsigned Block, int64_t Value) {
    return ofStage(P, S, Id, Block, Value);
  }
  void addBoundaries(int64_t Sent);

  Program &P;
  Stage &S;
  const Expr MicroBatches; ///< that go through each chunk
};

} // namespace

Expr foretrace::ofStage(Program &P, const Stage &S, KeyId Id, unsigned Block,
                        int64_t Value) {
  const Expr Number = numberOf(P, Value);
  if (Block != Key::NoBlock && !isModelBlock(P, Block))
    return Number;
  const Key K = {Id, Block, static_cast<unsigned>(&S - P.Stages.data())};
  return {P.Sizes, P.Sizes.define(K, Number)};
}

/// Of the stage that has most micro-batches on their way; where two have as
/// many, of the first.
static InFlight mostOnTheirWay(const Program &P, const Stage &S) {
  InFlight Most;
  for (int64_t I = S.First; I < S.First + S.Count; ++I)
    if (InFlight Here = mostInFlight(P.Schedule, I); Here.Count > Most.Count)
      Most = std::move(Here);
  return Most;
}

/// Layers times micro-batches on their way.
static LayerCounts keptLayers(const Stage &S, const InFlight &Most) {
  LayerCounts Kept;
  for (const auto &[Chunk, Count] : llvm::enumerate(Most.OfChunk))
    addLayers(S.layersOf(static_cast<int64_t>(Chunk)), Count, Kept);
  return Kept;
}

int64_t foretrace::messagesOf(const Schedule &S, int64_t Stage) {
  int64_t Sent = 0;
  for (const Schedule::Messages &M : S.messagesOf(Stage))
    Sent += M.Count;
  return Sent;
}

StageCounts foretrace::countStage(const Program &P, const Stage &S) {
  const InFlight Most = mostOnTheirWay(P, S);
  return {layersByBlock(S).takeVector(), keptLayers(S, Most).takeVector(),
          messagesOf(P.Schedule, S.First), Most.Count};
}

std::vector<StageCount> foretrace::countStages(const Program &P) {
  std::vector<StageCount> All;
  for (const auto &[Index, S] : llvm::enumerate(P.Stages)) {
    const StageCounts Counts = countStage(P, S);
    const auto Kind = static_cast<unsigned>(Index);
    for (const auto &[Block, Count] : Counts.Layers)
      All.push_back({{KeyId::StageLayers, Block, Kind}, Count});
    for (const auto &[Block, Count] : Counts.Kept)
      All.push_back({{KeyId::StageKept, Block, Kind}, Count});
    All.push_back(
        {{KeyId::StageMessages, Key::NoBlock, Kind}, Counts.Messages});
    All.push_back(
        {{KeyId::StageInFlight, Key::NoBlock, Kind}, Counts.InFlight});
  }
  return All;
}

/// Every part hands on the residual stream, of the same type and layout.
void StageSummer::addBoundaries(int64_t Sent) {
  if (Sent == 0)
    return;
  addMessages(S.Totals.Messages, {{Axis::Pp}},
              count(KeyId::StageMessages, Key::NoBlock, Sent) * MicroBatches *
                  boundarySize(P, 0));
}

void StageSummer::run() {
  using Terms = llvm::SmallVector<ExprId, 4>; // by block
  Terms Parameters, Weights, Gradients, Optimizer, Update, Activations, Work;
  S.Totals.Messages.clear();
  const StageCounts Counts = countStage(P, S);
  for (const auto &[Index, Count] : Counts.Layers) {
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
  for (const auto &[Index, Count] : Counts.Kept)
    Activations.push_back(
        count(KeyId::StageKept, Index, Count) *
        Expr(P.Sizes, P.Blocks[BlockId(Index)].Totals.Kept.Id));
  for (const Op &O : P.Blocks[S.Step].Ops)
    if (isCollective(O.Kind) && O.Group.size(P.Mesh) > 1)
      addMessages(S.Totals.Messages, O.Group, {P.Sizes, O.Message.Id});
  addBoundaries(Counts.Messages);
  count(KeyId::StageInFlight, Key::NoBlock, Counts.InFlight);
  S.Totals.Parameters = sumOf(P, Parameters);
  const Expr OfWeights = sumOf(P, Weights), OfGradients = sumOf(P, Gradients),
             OfOptimizer = sumOf(P, Optimizer),
             OfActivations = sumOf(P, Activations);
  S.Totals.Weights = OfWeights;
  S.Totals.Gradients = OfGradients;
  S.Totals.Optimizer = OfOptimizer;
  S.Totals.Update = sumOf(P, Update);
  S.Totals.Activations = OfActivations;
  S.Totals.Memory =
      sumOf(P, {OfWeights, OfGradients, OfOptimizer, OfActivations});
  S.Totals.Work = sumOf(P, Work);
}

void foretrace::totalStage(Program &P, Stage &S) { StageSummer(P, S).run(); }
