// SPDX-License-Identifier: Apache-2.0
#include "analysis/StageMemory.h"
#include "analysis/Parameters.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace foretrace;
using namespace foretrace::ir;

llvm::StringRef foretrace::getName(MemoryPhase P) {
  static constexpr llvm::StringRef Names[] = {"forward", "backward", "update"};
  return Names[static_cast<size_t>(P)];
}

StageMemories::StageMemories(ExprScope P) : P(P) {
  for (const Block &B : P->Blocks) {
    const Liveness Of(P, B);
    Layers.push_back({Of.most(Phase::Forward), Of.most(Phase::Backward),
                      isOffloaded(P, B) ? Of.kept() : numberOf(P, 0)});
  }
}

/// Transformer Engine, module/base.py, get_dummy_wgrad: where gradients are
/// added in place, one tensor for each shape of a weight stays, and stands for
/// them.
Expr StageMemories::standInsOf(const Stage &S) {
  llvm::SmallVector<ExprId, 8> Sizes;
  if (!*P->Spec.Train.FusedWgrad)
    return sumOf(P, Sizes);
  std::set<std::pair<int64_t, int64_t>> Shapes;
  for (const auto &[Block, Layers] : layersByBlock(S))
    for (const Value &V : P->Blocks[BlockId(Block)].Values) {
      if (!isMatrix(V))
        continue;
      const size_t Last = V.Type.Dims.size() - 1; // experts stand before
      const Expr Rows = extentOnRank(P, V.Type, V.Layout, Last - 1);
      const Expr Columns = extentOnRank(P, V.Type, V.Layout, Last);
      if (Shapes.emplace(Rows.value(), Columns.value()).second)
        Sizes.push_back(Rows * Columns * bytesPerElement(V.Type.Element));
    }
  return sumOf(P, Sizes);
}

Expr StageMemories::offloadedOf(const Stage &S) {
  llvm::SmallVector<ExprId, 4> Sizes;
  for (const auto &[Block, Count] : layersByBlock(S))
    Sizes.push_back(numberOf(P, Count) * Layers[Block].Offloaded);
  return sumOf(P, Sizes);
}

int64_t StageMemories::keptOf(unsigned Block) const {
  return P.Sizes.value(P->Blocks[BlockId(Block)].Totals.Kept).value();
}

const Moment &StageMemories::momentOf(unsigned Block, bool IsForward) const {
  return IsForward ? Layers[Block].Forward : Layers[Block].Backward;
}

/// Layers behind the one that runs are not there yet forward, and not any more
/// backward. Of a run of layers the last one needs most, and of a period that
/// repeats the last one, so that only these are looked at.
StageMemories::Candidate StageMemories::heaviestLayer(const LayerSequence &S,
                                                      bool IsForward) const {
  Candidate Most;
  LayerCounts Behind;
  int64_t KeptBehind = 0;
  auto Pass = [&](const BlockRun &R, int64_t Times) {
    Behind[R.Block.Index] += R.Count * Times;
    KeptBehind += R.Count * Times * keptOf(R.Block.Index);
  };
  for (const LayerGroup &G : llvm::reverse(S)) {
    for (const BlockRun &R : llvm::reverse(G.Runs)) {
      const unsigned Block = R.Block.Index;
      const int64_t Load =
          momentOf(Block, IsForward).Live.value() - keptOf(Block) - KeptBehind;
      if (Load > Most.Load)
        Most = {Block, Load, Behind};
      Pass(R, 1);
    }
    for (const BlockRun &R : G.Runs)
      Pass(R, G.Periods - 1);
  }
  return Most;
}

/// What is there at the heaviest step.
void StageMemories::fill(const Stage &S, const HeaviestStep &Most,
                         const Candidate &Runs, StageMemory &M) {
  LayerCounts Kept;
  for (const auto &[Chunk, Count] : llvm::enumerate(Most.Kept.OfChunk))
    addLayers(S.layersOf(static_cast<int64_t>(Chunk)), Count, Kept);
  for (const auto &[Block, Count] : Runs.Behind)
    Kept[Block] -= Count;
  --Kept[Runs.Block];
  llvm::SmallVector<ExprId, 4> Activations;
  for (const auto &[Block, Count] : Kept)
    Activations.push_back(
        numberOf(P, Count) *
        Expr(P.Sizes, P->Blocks[BlockId(Block)].Totals.Kept.Id));
  M.Step = Most.At;
  M.Kept = Most.Kept;
  M.Activations = sumOf(P, Activations);
  const Moment &Running =
      momentOf(Runs.Block, Most.At->Kind == ActionKind::Forward);
  M.Running = Running.Live;
  M.Block = BlockId(Runs.Block);
  M.Op = Running.At;
}

std::optional<StageMemory> StageMemories::of(int64_t Index) {
  const Stage &S = stageAt(P->Stages, Index);
  const Expr None = numberOf(P, 0);
  const Expr StandIns = standInsOf(S);
  const Expr Static = sumOf(P, {S.Totals.Weights.Id, S.Totals.Gradients.Id,
                                S.Totals.Optimizer.Id, StandIns});
  const Expr Offloaded = offloadedOf(S);
  const Expr Update(P.Sizes, S.Totals.Update.Id);
  StageMemory M{Static,    StandIns, std::nullopt,        {},
                None,      None,     BlockId(),           OpId(),
                Offloaded, Update,   MemoryPhase::Update, None};
  std::vector<ChunkMoments> Moments;
  std::vector<ChunkLoad> Loads;
  for (const ChunkRun &C : S.Chunks) {
    for (const auto &[Block, Count] : layersByBlock(C.Layers))
      if (!Layers[Block].Forward.Live.hasValue() ||
          !Layers[Block].Backward.Live.hasValue())
        return std::nullopt;
    const ChunkMoments Most = {heaviestLayer(C.Layers, true),
                               heaviestLayer(C.Layers, false)};
    int64_t Kept = 0;
    for (const auto &[Block, Count] : layersByBlock(C.Layers))
      Kept += Count * keptOf(Block);
    Moments.insert(Moments.end(), static_cast<size_t>(C.Count), Most);
    Loads.insert(Loads.end(), static_cast<size_t>(C.Count),
                 {Kept, std::max<int64_t>(Most.Forward.Load, 0),
                  std::max<int64_t>(Most.Backward.Load, 0)});
  }
  const HeaviestStep Most = heaviestStep(P->Schedule, Index, Loads);
  if (Most.At) {
    const ChunkMoments &Of = Moments[static_cast<size_t>(Most.At->Chunk)];
    const bool IsForward = Most.At->Kind == ActionKind::Forward;
    fill(S, Most, IsForward ? Of.Forward : Of.Backward, M);
    M.Phase = IsForward ? MemoryPhase::Forward : MemoryPhase::Backward;
  }
  const Expr InSchedule = M.Static + M.Activations + M.Running;
  const Expr InUpdate = M.Static + M.Update;
  if (!InSchedule.hasValue() || !InUpdate.hasValue() || !M.Offloaded.hasValue())
    return std::nullopt;
  if (InUpdate.value() > InSchedule.value())
    M.Phase = MemoryPhase::Update;
  M.Peak = M.Phase == MemoryPhase::Update ? InUpdate : InSchedule;
  return M;
}

std::string foretrace::stagesOf(const StagesMemory &S) {
  return std::to_string(S.First) +
         (S.Count > 1 ? "-" + std::to_string(S.First + S.Count - 1) : "");
}

static bool isSame(const StageMemory &A, const StageMemory &B) {
  return A.Peak.value() == B.Peak.value() &&
         A.Static.value() == B.Static.value() && A.Phase == B.Phase &&
         A.Offloaded.value() == B.Offloaded.value() &&
         A.Kept.OfChunk == B.Kept.OfChunk && A.Block == B.Block && A.Op == B.Op;
}

std::optional<std::vector<StagesMemory>>
foretrace::memoryOfStages(ExprScope P) {
  std::vector<StagesMemory> All;
  StageMemories Memories(P);
  for (int64_t Stage = 0; Stage < P->Schedule.Stages; ++Stage) {
    std::optional<StageMemory> M = Memories.of(Stage);
    if (!M)
      return std::nullopt;
    if (!All.empty() && isSame(All.back().Of, *M))
      ++All.back().Count;
    else
      All.push_back({Stage, 1, std::move(*M)});
  }
  return All;
}

const StagesMemory &foretrace::mostOf(llvm::ArrayRef<StagesMemory> Stages) {
  return *llvm::max_element(Stages,
                            [](const StagesMemory &A, const StagesMemory &B) {
                              return A.Of.Peak.value() < B.Of.Peak.value();
                            });
}
