// SPDX-License-Identifier: Apache-2.0
#include "analysis/LayerCounts.h"

using namespace foretrace;
using namespace foretrace::ir;

void foretrace::addLayers(const LayerSequence &S, int64_t Times,
                          LayerCounts &To) {
  for (const LayerGroup &G : S)
    for (const BlockRun &R : G.Runs)
      To[R.Block.Index] += Times * G.Periods * R.Count;
}

LayerCounts foretrace::layersByBlock(const LayerSequence &S) {
  LayerCounts Layers;
  addLayers(S, 1, Layers);
  return Layers;
}

LayerCounts foretrace::layersByBlock(const Stage &S) {
  LayerCounts Layers;
  for (const ChunkRun &C : S.Chunks)
    addLayers(C.Layers, C.Count, Layers);
  return Layers;
}

unsigned foretrace::firstChunk(const Stage &S, size_t Run) {
  int64_t First = 0;
  for (const ChunkRun &C : llvm::ArrayRef(S.Chunks).take_front(Run))
    First += C.Count;
  return static_cast<unsigned>(First);
}

int64_t foretrace::ranksOfStage(const Program &P) {
  return *P.Spec.Parallel.World / P.Schedule.Stages;
}

Expr foretrace::microBatchesOfChunk(ExprScope P) {
  const Expr All = exprOf(P, P->Spec.Parallel.Ga);
  return P->Schedule.Placement == PlacementKind::Bidirectional
             ? All / numberOf(P, 2) // each way
             : All;
}

std::string foretrace::describe(const LayerSequence &S, const Program &P) {
  std::string Text;
  auto Runs = [&](const LayerGroup &G) {
    std::string Part;
    for (const BlockRun &R : G.Runs) {
      Part += Part.empty() ? "" : " + ";
      if (R.Count > 1)
        Part += std::to_string(R.Count) + " ";
      Part += P.Blocks[R.Block].Name;
    }
    return Part;
  };
  for (const LayerGroup &G : S) {
    Text += Text.empty() ? "" : " + ";
    Text += G.Periods > 1 ? std::to_string(G.Periods) + " (" + Runs(G) + ")"
                          : Runs(G);
  }
  return Text.empty() ? "nothing" : Text;
}
