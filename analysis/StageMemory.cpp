// SPDX-License-Identifier: Apache-2.0
#include "analysis/StageMemory.h"
#include "analysis/Analyses.h"
#include "analysis/Parameters.h"
#include "lang/NumberText.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

llvm::StringRef foretrace::getName(MemoryPhase P) {
  static constexpr llvm::StringRef Names[] = {"forward", "backward", "update"};
  return Names[static_cast<size_t>(P)];
}

StageMemories::StageMemories(ExprScope P, Validity For) : P(P), For(For) {
  for (const Block &B : P->Blocks) {
    const Liveness Of(P, B);
    Layers.push_back({Of.most(Phase::Forward), Of.most(Phase::Backward),
                      std::nullopt, std::nullopt,
                      isOffloaded(P, B) ? Of.kept() : numberOf(P, 0)});
  }
}

/// Transformer Engine, module/base.py, get_dummy_wgrad: where gradients are
/// added in place, one tensor for each shape of a weight stays, and is handed
/// on in their place. Which shapes are the same is a matter of numbers.
Expr StageMemories::dummyWgradsOf(const Stage &S) {
  const bool WhateverKeysAre = For == Validity::AnyKeys;
  llvm::SmallVector<ExprId, 8> Sizes;
  if (!*P->Spec.Train.FusedWgrad)
    return sumOf(P, Sizes);
  struct Shape {
    Expr Rows, Columns;
  };
  std::vector<Shape> Shapes;
  auto IsSame = [&](const Shape &A, const Shape &B) {
    return WhateverKeysAre ? ExprId(A.Rows) == ExprId(B.Rows) &&
                                 ExprId(A.Columns) == ExprId(B.Columns)
                           : A.Rows.value() == B.Rows.value() &&
                                 A.Columns.value() == B.Columns.value();
  };
  for (const auto &[Block, Layers] : layersByBlock(S))
    for (const Value &V : P->Blocks[BlockId(Block)].Values) {
      if (!isMatrix(V) || V.Frozen)
        continue;
      const size_t Last = V.Type.Dims.size() - 1; // experts are before it
      const Shape New = {extentOnRank(P, V.Type, V.Layout, Last - 1),
                         extentOnRank(P, V.Type, V.Layout, Last)};
      if (llvm::any_of(Shapes,
                       [&](const Shape &Old) { return IsSame(Old, New); }))
        continue;
      Expr Size = New.Rows * New.Columns * bytesPerElement(nominalType(*P, V));
      if (WhateverKeysAre)
        for (const Shape &Old : Shapes)
          Size *= equal(Old.Rows, New.Rows) * equal(Old.Columns, New.Columns) *
                      int64_t(-1) +
                  int64_t(1);
      Sizes.push_back(Size);
      Shapes.push_back(New);
    }
  return sumOf(P, Sizes);
}

Expr StageMemories::staticOf(const Stage &S) {
  return sumOf(P, {S.Totals.Weights.Id, S.Totals.Gradients.Id,
                   S.Totals.Optimizer.Id, dummyWgradsOf(S)});
}

Expr StageMemories::offloadedOf(const Stage &S) {
  llvm::SmallVector<ExprId, 4> Sizes;
  for (const auto &[Block, Count] : layersByBlock(S))
    Sizes.push_back(numberOf(P, Count) * Layers[Block].Offloaded);
  return sumOf(P, Sizes);
}

Expr StageMemories::keptOf(unsigned Block) const {
  return P.at(P->Blocks[BlockId(Block)].Totals.Kept);
}

std::vector<ChunkUnits> StageMemories::unitsOf(const Stage &S) {
  std::vector<ChunkUnits> Units;
  for (unsigned Kind = 0; Kind < S.Chunks.size(); ++Kind)
    Units.emplace_back(P, S, Kind);
  return Units;
}

bool StageMemories::areCountable(const Stage &S,
                                 llvm::ArrayRef<ChunkUnits> Units) const {
  for (const auto &[C, OfChunk] : llvm::zip_equal(S.Chunks, Units))
    for (const auto &[Block, Count] : layersByBlock(C.Layers))
      for (const bool IsForward : {true, false})
        if (!momentOf(Block, IsForward).Live.hasValue() ||
            !OfChunk.at(Block, IsForward).hasValue())
          return false;
  return true;
}

Expr StageMemories::runningAt(const MemoryStep &Step,
                              llvm::ArrayRef<ChunkUnits> Units) const {
  const bool IsForward = Step.At.Kind == ActionKind::Forward;
  return momentOf(Step.Runs, IsForward).Live +
         Units[Step.Kind].at(Step.Runs, IsForward);
}

/// The first that needs most; none if the stage runs nothing.
std::optional<MemoryStep>
StageMemories::heaviestStep(int64_t Index,
                            llvm::ArrayRef<ChunkUnits> Units) const {
  std::optional<MemoryStep> Most;
  __int128 Highest = -1;
  for (MemoryStep &Step : memorySteps(P, Index)) {
    __int128 Load = runningAt(Step, Units).value();
    for (const auto &[Block, Count] : Step.Saved)
      Load += static_cast<__int128>(Count) * keptOf(Block).value();
    if (Load <= Highest)
      continue;
    Highest = Load;
    Most = std::move(Step);
  }
  return Most;
}

void StageMemories::fill(const MemoryStep &Most,
                         llvm::ArrayRef<ChunkUnits> Units, StageMemory &M) {
  llvm::SmallVector<ExprId, 4> Saved;
  for (const auto &[Block, Count] : Most.Saved)
    Saved.push_back(numberOf(P, Count) * keptOf(Block));
  const bool IsForward = Most.At.Kind == ActionKind::Forward;
  M.Step = Most.At;
  M.InFlight = Most.InFlight;
  M.Saved = sumOf(P, Saved);
  M.Running = runningAt(Most, Units);
  M.Block = BlockId(Most.Runs);
  M.Op = momentOf(Most.Runs, IsForward).At;
  M.Phase = IsForward ? MemoryPhase::Forward : MemoryPhase::Backward;
}

std::optional<StageMemory> StageMemories::compute(int64_t Index) {
  const Stage &S = stageAt(P->Stages, Index);
  const std::vector<ChunkUnits> Units = unitsOf(S);
  if (!areCountable(S, Units))
    return std::nullopt;
  const Expr None = numberOf(P, 0);
  StageMemory M{staticOf(S),
                dummyWgradsOf(S),
                std::nullopt,
                0,
                None,
                None,
                BlockId(),
                OpId(),
                offloadedOf(S),
                P.at(S.Totals.Update),
                MemoryPhase::Update,
                None};
  if (const std::optional<MemoryStep> Most = heaviestStep(Index, Units))
    fill(*Most, Units, M);
  const Expr InSchedule = M.Static + M.Saved + M.Running;
  const Expr InUpdate = M.Static + M.Update;
  if (!InSchedule.hasValue() || !InUpdate.hasValue() || !M.Offloaded.hasValue())
    return std::nullopt;
  if (InUpdate.value() > InSchedule.value())
    M.Phase = MemoryPhase::Update;
  M.Peak = M.Phase == MemoryPhase::Update ? InUpdate : InSchedule;
  return M;
}

std::optional<StageMemory> StageMemories::of(int64_t Index) {
  const auto [It, IsNew] = Known.try_emplace(Index);
  if (IsNew)
    It->second = compute(Index);
  return It->second;
}

Expr StageMemories::anyMoment(unsigned Block, bool IsForward) {
  LayerMoments &Of = Layers[Block];
  std::optional<Expr> &Known = IsForward ? Of.AnyForward : Of.AnyBackward;
  if (!Known)
    Known.emplace(Liveness(P, P->Blocks[BlockId(Block)])
                      .any(IsForward ? Phase::Forward : Phase::Backward));
  return *Known;
}

/// Returns the peak of the stage that needs most.
Expr StageMemories::peakHere(const Stage &S) {
  std::optional<Expr> Most;
  for (int64_t Index = S.First; Index < S.First + S.Count; ++Index) {
    const std::optional<StageMemory> M = of(Index);
    if (!M)
      return numberOf(P, NoValue);
    if (!Most || M->Peak.value() > Most->value())
      Most.emplace(M->Peak);
  }
  return *Most;
}

/// The sums of `of`, of all steps that may have most.
Expr StageMemories::peakAnywhere(const Stage &S) {
  Expr Most = P.at(S.Totals.Update);
  unsigned Slot = 0;
  const std::vector<ChunkUnits> Units = unitsOf(S);
  for (const SavedLayers::Running &R : savedLayers(*P, S).Steps)
    for (const LayerCounts &Beside : R.Beside) {
      llvm::SmallVector<ExprId, 4> Terms = {
          anyMoment(R.Block, R.IsForward),
          Units[R.Kind].at(R.Block, R.IsForward)};
      for (const auto &[Block, Count] : Beside)
        Terms.push_back(ofStage(P, S, KeyId::StageBeside, Block, Count, Slot) *
                        keptOf(Block));
      Most = max(Most, sumOf(P, Terms));
      ++Slot;
    }
  return staticOf(S) + Most;
}

Expr StageMemories::peakOf(const Stage &S) {
  auto It = Peaks.find(&S);
  if (It == Peaks.end())
    It = Peaks
             .try_emplace(&S, For == Validity::ThisJob ? peakHere(S)
                                                       : peakAnywhere(S))
             .first;
  return It->second;
}

static bool isSame(const StageMemory &A, const StageMemory &B) {
  return A.Peak.value() == B.Peak.value() &&
         A.Static.value() == B.Static.value() && A.Phase == B.Phase &&
         A.Offloaded.value() == B.Offloaded.value() &&
         A.InFlight == B.InFlight && A.Block == B.Block && A.Op == B.Op;
}

std::optional<std::vector<StagesMemory>> StageMemories::all() {
  std::vector<StagesMemory> All;
  for (int64_t Stage = 0; Stage < P->Schedule.Stages; ++Stage) {
    std::optional<StageMemory> M = of(Stage);
    if (!M)
      return std::nullopt;
    if (!All.empty() && isSame(All.back().Of, *M))
      ++All.back().Stages.Count;
    else
      All.push_back({{Stage, 1}, std::move(*M)});
  }
  return All;
}

const StagesMemory &foretrace::mostOf(llvm::ArrayRef<StagesMemory> Stages) {
  return *llvm::max_element(Stages,
                            [](const StagesMemory &A, const StagesMemory &B) {
                              return A.Of.Peak.value() < B.Of.Peak.value();
                            });
}
