// SPDX-License-Identifier: Apache-2.0
//
// stages: cuts the layer sequence into parts and gives each to the stage and
// chunk where the schedule has it. Equal neighbouring stages, and equal
// neighbouring chunks of a stage, are stored once with a count. The stage where
// a V turns is unlike those before it: it sends itself what they send others.

#include "ir/Partition.h"
#include "passes/BalanceStages.h"
#include "passes/Passes.h"
#include "passes/analyses/Analyses.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

int64_t periodLength(const LayerGroup &G) {
  int64_t N = 0;
  for (const BlockRun &R : G.Runs)
    N += R.Count;
  return N;
}

/// Cuts a folded sequence off from the front, piece by piece.
class Cutter {
public:
  explicit Cutter(const LayerSequence &S) : S(S) {}

  /// The next \p Count layers, folded.
  LayerSequence take(int64_t Count);

private:
  int64_t takeWholePeriods(const LayerGroup &G, int64_t Count,
                           LayerSequence &Out);
  int64_t takePartOfPeriod(const LayerGroup &G, int64_t Count,
                           LayerSequence &Out);

  const LayerSequence &S;
  size_t Group = 0;
  int64_t Period = 0;   ///< periods of the group already taken
  int64_t InPeriod = 0; ///< layers of the current period already taken
};

/// Appends; one run after another of the same block becomes one.
void append(LayerSequence &Out, LayerGroup G) {
  if (!Out.empty() && Out.back().Periods == 1 && G.Periods == 1) {
    LayerGroup &Last = Out.back();
    for (const BlockRun &R : G.Runs) {
      if (Last.Runs.back().Block == R.Block)
        Last.Runs.back().Count += R.Count;
      else
        Last.Runs.push_back(R);
    }
    return;
  }
  Out.push_back(std::move(G));
}

/// A group of one run and several periods is one longer run.
LayerGroup folded(LayerGroup G) {
  if (G.Runs.size() == 1) {
    G.Runs[0].Count *= G.Periods;
    G.Periods = 1;
  }
  return G;
}

} // namespace

int64_t Cutter::takeWholePeriods(const LayerGroup &G, int64_t Count,
                                 LayerSequence &Out) {
  int64_t Periods = std::min(Count / periodLength(G), G.Periods - Period);
  if (Periods > 0)
    append(Out, folded({Periods, G.Runs}));
  Period += Periods;
  return Periods * periodLength(G);
}

int64_t Cutter::takePartOfPeriod(const LayerGroup &G, int64_t Count,
                                 LayerSequence &Out) {
  LayerGroup Part;
  int64_t Begin = 0;
  int64_t Taken = 0;
  for (const BlockRun &R : G.Runs) {
    int64_t From = std::max(Begin, InPeriod);
    int64_t To = std::min(Begin + R.Count, InPeriod + Count);
    if (From < To) {
      Part.Runs.push_back({R.Block, To - From});
      Taken += To - From;
    }
    Begin += R.Count;
  }
  append(Out, std::move(Part));
  InPeriod += Taken;
  if (InPeriod == Begin) {
    InPeriod = 0;
    ++Period;
  }
  return Taken;
}

LayerSequence Cutter::take(int64_t Count) {
  LayerSequence Out;
  while (Count > 0 && Group < S.size()) {
    const LayerGroup &G = S[Group];
    if (InPeriod == 0 && Count >= periodLength(G))
      Count -= takeWholePeriods(G, Count, Out);
    else
      Count -= takePartOfPeriod(G, Count, Out);
    if (Period == G.Periods) {
      ++Group;
      Period = 0;
    }
  }
  return Out;
}

/// Layers of each chunk where the first or last stage has its own number.
static std::vector<int64_t> endedLayers(const ParallelSpec &P, int64_t Layers) {
  const bool HasFirst = P.FirstStageLayers.isPresent();
  const bool HasLast = P.LastStageLayers.isPresent();
  const int64_t Others = *P.Pp - HasFirst - HasLast;
  const int64_t Rest = Layers - (HasFirst ? *P.FirstStageLayers : 0) -
                       (HasLast ? *P.LastStageLayers : 0);
  std::vector<int64_t> Sizes;
  for (int64_t Chunk = 0; Chunk < *P.Vpp; ++Chunk)
    for (int64_t Stage = 0; Stage < *P.Pp; ++Stage)
      Sizes.push_back((Stage == 0 && HasFirst          ? *P.FirstStageLayers
                       : Stage + 1 == *P.Pp && HasLast ? *P.LastStageLayers
                                                       : Rest / Others) /
                      *P.Vpp);
  return Sizes;
}

/// Layers of each chunk; nothing if the weights they are split by overflow.
static std::optional<std::vector<int64_t>> chunkLayers(const Program &P) {
  const ParallelSpec &Par = P.Spec.Parallel;
  const int64_t Layers = P.Spec.Model.layerCount();
  std::vector<int64_t> Sizes;
  if (!Par.Layout.empty()) {
    for (const Located<int64_t> &L : Par.Layout)
      Sizes.push_back(*L);
    return Sizes;
  }
  if (*Par.Partition == PartitionKind::BlockTp)
    return blockTpLayers(Layers, *Par.Pp);
  if (*Par.Partition == PartitionKind::Balanced)
    return balancedLayers(P);
  if (Par.FirstStageLayers.isPresent() || Par.LastStageLayers.isPresent())
    return endedLayers(Par, Layers);
  const int64_t Chunks = *Par.Pp * *Par.Vpp;
  const int64_t Counted = Layers + *Par.EmbeddingAsLayer + *Par.LossAsLayer;
  Sizes.assign(static_cast<size_t>(Chunks), Counted / Chunks);
  // What counts as a layer is one of the share.
  Sizes.front() -= *Par.EmbeddingAsLayer;
  Sizes.back() -= *Par.LossAsLayer;
  return Sizes;
}

/// Whether two stages hold the same.
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

/// What a stage holds.
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

bool foretrace::assignStages(Program &P, DiagnosticEngine &Diags) {
  // Parts are cut one by one; no machine has this many.
  constexpr int64_t MaxParts = 1 << 20;
  const Schedule &S = P.Schedule;
  if (S.parts() > MaxParts) { // derive excludes an overflow
    Diags.report(P.Spec.Parallel.Pp.Range, diag::TooManyChunks, S.parts(),
                 MaxParts);
    return false;
  }
  const PartitionKind Partition = *P.Spec.Parallel.Partition;
  if (Partition == PartitionKind::ModuleCount) {
    Diags.report(P.Spec.Parallel.Partition.Range, diag::PartitionInsideLayers);
    return false;
  }
  std::optional<std::vector<int64_t>> Sizes = chunkLayers(P);
  if (!Sizes) {
    Diags.report(P.Spec.Model.LayersRange, diag::SizeOverflow,
                 "the weight of all layers");
    return false;
  }
  // The embedding and the head stand at the ends.
  ++Sizes->front();
  ++Sizes->back();
  std::vector<LayerSequence> Parts;
  Cutter Cut(P.Layers);
  for (int64_t Size : *Sizes)
    Parts.push_back(Cut.take(Size));
  for (int64_t I = 0; I < S.Stages; ++I) {
    Stage Next = stageOf(S, I, Parts);
    if (!P.Stages.empty() && isSame(P.Stages.back(), Next) &&
        messagesOf(S, I - 1) == messagesOf(S, I))
      ++P.Stages.back().Count;
    else
      P.Stages.push_back(std::move(Next));
  }
  return true;
}
