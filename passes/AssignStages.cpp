// SPDX-License-Identifier: Apache-2.0
//
// stages: cuts the layer sequence into parts and gives each to the stage and
// chunk where the schedule has it. Equal neighbouring stages, and equal
// neighbouring chunks of a stage, are stored once with a count. The stage where
// a V turns is unlike those before it: it sends itself what they send others.

#include "analysis/Analyses.h"
#include "ir/model/Partition.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Passes.h"
#include "passes/BalanceStages.h"
#include "passes/LayerCutter.h"
#include "passes/Passes.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Returns whether two stages hold the same.
static bool isSame(const Stage &A, const Stage &B) {
  if (A.Chunks.size() != B.Chunks.size() ||
      A.ReceivesForward != B.ReceivesForward ||
      A.SendsForward != B.SendsForward)
    return false;
  for (size_t I = 0; I < A.Chunks.size(); ++I)
    if (A.Chunks[I].Count != B.Chunks[I].Count ||
        A.Chunks[I].Layers != B.Chunks[I].Layers)
      return false;
  return true;
}

/// Returns the layers of a stage.
static Stage stageOf(const Schedule &S, int64_t Index,
                     llvm::ArrayRef<LayerSequence> Parts) {
  Stage Out;
  Out.First = Index;
  Out.ReceivesForward = Out.SendsForward = true;
  for (int64_t Chunk = 0; Chunk < S.Chunks; ++Chunk) {
    const int64_t Part = S.partOf(Index, Chunk);
    Out.ReceivesForward &= Part > 0;
    Out.SendsForward &= Part + 1 < S.parts();
    const LayerSequence &Layers = Parts[static_cast<size_t>(Part)];
    if (!Out.Chunks.empty() && Out.Chunks.back().Layers == Layers)
      ++Out.Chunks.back().Count;
    else
      Out.Chunks.push_back({Layers, 1});
  }
  return Out;
}

/// Returns the number of messages of a stage to other stages for a micro-batch.
static int64_t messageCount(const Schedule &S, int64_t Stage) {
  int64_t Count = 0;
  for (const Schedule::Messages &M : S.messagesOf(Stage))
    Count += M.Count;
  return Count;
}

bool foretrace::assignStages(Program &P, DiagnosticEngine &Diags) {
  const Schedule &S = P.Schedule;
  if (S.parts() > MaxChunks) { // derive excludes an overflow
    Diags.report(P.Spec.Parallel.Pp.Range, diag::TooManyChunks, S.parts(),
                 MaxChunks);
    return false;
  }
  const PartitionKind Partition = *P.Spec.Parallel.Partition;
  if (Partition == PartitionKind::ModuleCount) {
    Diags.report(P.Spec.Parallel.Partition.Range, diag::PartitionInsideLayers);
    return false;
  }
  std::optional<std::vector<int64_t>> Sizes =
      Partition == PartitionKind::Balanced && P.Spec.Parallel.Layout.empty()
          ? balancedLayers(P)
          : chunkLayers(P.Spec.Parallel, P.Spec.Model);
  if (!Sizes) {
    Diags.report(P.Spec.Model.LayersRange, diag::SizeOverflow,
                 "the weight of all layers");
    return false;
  }
  // The embedding is at the beginning, a branch and the head are at the end.
  ++Sizes->front();
  Sizes->back() += P.Spec.Model.blocksAtEnd();
  std::vector<LayerSequence> Parts;
  LayerCutter Cut(P.Layers);
  for (int64_t Size : *Sizes)
    Parts.push_back(Cut.take(Size));
  for (int64_t I = 0; I < S.Stages; ++I) {
    Stage Next = stageOf(S, I, Parts);
    if (!P.Stages.empty() && isSame(P.Stages.back(), Next) &&
        messageCount(S, I - 1) == messageCount(S, I))
      ++P.Stages.back().Count;
    else
      P.Stages.push_back(std::move(Next));
  }
  return true;
}
