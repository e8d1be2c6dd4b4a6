// SPDX-License-Identifier: Apache-2.0
//
// The layers of all chunks but those of a tower as
// --pipeline-model-parallel-layout of Megatron-LM has them
// (transformer/pipeline_parallel_layer_layout.py, parse_str_to_list;
// frontend/MegatronLayout.h reads them).

#include "backends/plan/Formats.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::plan;

/// Returns \p Count characters \p C, folded.
static std::string repeated(char C, int64_t Count) {
  if (Count == 0)
    return "";
  return C + (Count > 1 ? "*" + llvm::itostr(Count) : "");
}

/// Returns the chunk of these layers: `E`, `t`, `m` and `L`.
static std::string chunkText(const Program &P, const LayerSequence &Layers) {
  const BlockId Embedding = P.Layers.front().Runs.front().Block;
  const BlockId Head = P.Layers.back().Runs.front().Block;
  const ModelSpec &M = P.Spec.Model;
  std::string Before, After;
  int64_t Count = 0;
  for (const LayerGroup &G : Layers)
    for (const BlockRun &R : G.Runs)
      if (R.Block == Embedding)
        Before = "E";
      else if (R.Block == Head)
        After += "L";
      else if (M.Branch &&
               P.Blocks[R.Block].Name == M.Blocks[M.Branch->Block].Name)
        After += repeated('m', *M.branch()->number("depths"));
      else if (const BlockSpec *Of = M.findBlock(P.Blocks[R.Block].Name);
               !Of || !Of->isOfTower())
        Count += G.Periods * R.Count;
  return Before + repeated('t', Count) + After;
}

void plan::writeLayout(const Program &P, const PlanRows &,
                       llvm::raw_ostream &OS) {
  const ParallelSpec &Par = P.Spec.Parallel;
  std::string Last;
  int64_t Times = 0;
  auto End = [&](llvm::StringRef Separator) {
    if (Times > 1)
      OS << '(' << Last << "|)*" << Times;
    else if (Times == 1)
      OS << Last << Separator;
    Times = 0;
  };
  for (int64_t Chunk = 0; Chunk < *Par.Vpp; ++Chunk)
    for (int64_t Stage = 0; Stage < *Par.Pp; ++Stage) {
      std::string Text = chunkText(P, stageAt(P.Stages, Stage).layersOf(Chunk));
      if (Times > 0 && Text != Last)
        End("|");
      Last = std::move(Text);
      ++Times;
    }
  End("");
  OS << '\n';
}
