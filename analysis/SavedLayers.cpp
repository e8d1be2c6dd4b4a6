// SPDX-License-Identifier: Apache-2.0
#include "analysis/SavedLayers.h"
#include "analysis/Units.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Chunks with the same layers are of one kind.
static std::vector<unsigned> kindsOf(const Stage &S) {
  std::vector<unsigned> Kinds;
  for (const auto &[Kind, C] : llvm::enumerate(S.Chunks))
    Kinds.insert(Kinds.end(), static_cast<size_t>(C.Count),
                 static_cast<unsigned>(Kind));
  return Kinds;
}

/// All layers of the chunks that are in flight.
static LayerCounts layersInFlight(const Stage &S, const InFlight &Of) {
  LayerCounts Layers;
  for (const auto &[C, Count] : llvm::zip_equal(S.Chunks, Of.OfKind))
    addLayers(C.Layers, Count, Layers);
  return Layers;
}

namespace {

/// A layer of a chunk, and those after it.
struct LayerOfChunk {
  unsigned Block;
  LayerCounts Behind;
};

} // namespace

/// The last layer of each block in \p S, from the last on: layers behind the
/// one that runs have saved nothing yet forward, and nothing any more backward,
/// so that of the layers of a block the last one needs most.
static std::vector<LayerOfChunk> lastLayers(const LayerSequence &S) {
  std::vector<LayerOfChunk> Last;
  LayerCounts Behind;
  for (const LayerGroup &G : llvm::reverse(S)) {
    for (const BlockRun &R : llvm::reverse(G.Runs)) {
      const unsigned Block = R.Block.Index;
      if (llvm::none_of(
              Last, [&](const LayerOfChunk &L) { return L.Block == Block; }))
        Last.push_back({Block, Behind});
      Behind[Block] += R.Count;
    }
    for (const BlockRun &R : G.Runs)
      Behind[R.Block.Index] += R.Count * (G.Periods - 1);
  }
  return Last;
}

static void addSteps(const Stage &S, llvm::ArrayRef<unsigned> Kinds,
                     const InFlight &Of, std::vector<MemoryStep> &To) {
  const unsigned Kind = Kinds[static_cast<size_t>(Of.At.Chunk)];
  for (const LayerOfChunk &L : lastLayers(S.layersOf(Of.At.Chunk))) {
    LayerCounts Saved = layersInFlight(S, Of);
    for (const auto &[Block, Count] : L.Behind)
      Saved[Block] -= Count;
    --Saved[L.Block];
    To.push_back({Of.At, Of.count(), Kind, L.Block, std::move(Saved)});
  }
}

std::vector<MemoryStep> foretrace::memorySteps(const Program &P,
                                               int64_t Index) {
  const Stage &S = stageAt(P.Stages, Index);
  const std::vector<unsigned> Kinds = kindsOf(S);
  std::vector<MemoryStep> Steps;
  for (const InFlight &Of : heaviestSteps(P.Schedule, Index, Kinds))
    addSteps(S, Kinds, Of, Steps);
  return Steps;
}

/// Adds \p New to counts, none of which covers another one.
static void addMaximal(LayerCounts New, std::vector<LayerCounts> &To) {
  auto HasAll = [](const LayerCounts &A, const LayerCounts &B) {
    return llvm::all_of(
        B, [&](const auto &Of) { return A.lookup(Of.first) >= Of.second; });
  };
  if (llvm::any_of(
          To, [&](const LayerCounts &Other) { return HasAll(Other, New); }))
    return;
  llvm::erase_if(To,
                 [&](const LayerCounts &Other) { return HasAll(New, Other); });
  To.push_back(std::move(New));
}

static void pad(std::vector<LayerCounts> &List) {
  if (!List.empty())
    List.resize(llvm::PowerOf2Ceil(List.size()), LayerCounts(List.back()));
}

/// The layers that may run, each without others yet.
static std::vector<SavedLayers::Running> layersOf(const Program &P,
                                                  const Stage &S) {
  std::vector<SavedLayers::Running> Layers;
  auto Add = [&](unsigned Kind, const LayerCounts &Blocks) {
    for (const auto &[Block, Count] : Blocks)
      for (const bool IsForward : {true, false})
        Layers.push_back({Kind, Block, IsForward, {}});
  };
  if (!hasUnits(P))
    Add(0, layersByBlock(S));
  else
    for (const auto &[Kind, C] : llvm::enumerate(S.Chunks))
      Add(static_cast<unsigned>(Kind), layersByBlock(C.Layers));
  return Layers;
}

SavedLayers foretrace::savedLayers(const Program &P, const Stage &S) {
  const std::vector<unsigned> Kinds = kindsOf(S);
  SavedLayers Found;
  Found.Steps = layersOf(P, S);
  for (int64_t Index = S.First; Index < S.First + S.Count; ++Index)
    for (const InFlight &Of : heaviestSteps(P.Schedule, Index, Kinds)) {
      addMaximal(layersInFlight(S, Of), Found.All);
      Found.InFlight = std::max(Found.InFlight, Of.count());
      std::vector<MemoryStep> Steps;
      addSteps(S, Kinds, Of, Steps);
      for (MemoryStep &Step : Steps) {
        const bool IsForward = Step.At.Kind == ActionKind::Forward;
        const auto It =
            llvm::find_if(Found.Steps, [&](const SavedLayers::Running &R) {
              return R.Block == Step.Runs && R.IsForward == IsForward &&
                     (!hasUnits(P) || R.Kind == Step.Kind);
            });
        addMaximal(std::move(Step.Saved), It->Beside);
      }
    }
  pad(Found.All);
  for (SavedLayers::Running &R : Found.Steps)
    pad(R.Beside);
  return Found;
}
