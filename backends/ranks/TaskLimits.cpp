// SPDX-License-Identifier: Apache-2.0
#include "backends/ranks/TaskLimits.h"
#include "analysis/LayerCounts.h"
#include "ir/ranks/BlockTasks.h"
#include "ir/ranks/StepOps.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"
#include <cmath>

using namespace foretrace;
using namespace foretrace::ir;

bool foretrace::checkLayers(const Program &P, DiagnosticEngine &Diags) {
  constexpr int64_t MaxLayers = 1 << 16;
  for (const Stage &S : P.Stages) {
    int64_t Layers = 0;
    for (const ChunkRun &C : S.Chunks)
      Layers += C.Count * layerCount(C.Layers);
    if (Layers <= MaxLayers)
      continue;
    Diags.report(P.Spec.Model.LayersRange, diag::EmitLayers, Layers, MaxLayers);
    return false;
  }
  return true;
}

bool foretrace::checkSteps(const EmitRequest &Request,
                           DiagnosticEngine &Diags) {
  constexpr int64_t MaxSteps = int64_t(1) << 20;
  const Program &P = Request.Program;
  const Schedule &S = P.Schedule;
  const SourceRange Range = Request.Emit.Range;
  if (S.steps() > MaxSteps) {
    Diags.report(Range, diag::EmitTooLong, S.MicroBatches, S.Chunks, MaxSteps);
    return false;
  }
  if (!checkLayers(P, Diags))
    return false;
  const bool IsOverflow = timeOfSteps(P).isOverflow();
  if (IsOverflow)
    Diags.report(Range, diag::SizeOverflow, "the time of all steps");
  return !IsOverflow;
}

double foretrace::leastTasks(const Program &P, const RankList &Chosen) {
  Table<BlockId, int64_t> OfBlock;
  for (const Block &B : P.Blocks) {
    const BlockTasks Tasks(P, B);
    OfBlock.add(Tasks.count(ActionKind::Forward) +
                Tasks.count(ActionKind::Backward));
  }
  const bool HasCopies = P.Schedule.Placement == PlacementKind::Bidirectional;
  const double Steps =
      static_cast<double>(P.Schedule.MicroBatches) / (HasCopies ? 2 : 1);
  double OfAll = 0, OfOne = INFINITY;
  for (const Stage &S : P.Stages) {
    double Tasks = 0;
    for (const auto &[Block, Layers] : layersByBlock(S))
      Tasks += Steps * static_cast<double>(Layers * OfBlock[BlockId(Block)]);
    OfAll += Tasks * static_cast<double>(S.Count);
    OfOne = std::min(OfOne, Tasks);
  }
  if (Chosen.empty())
    return OfAll * static_cast<double>(*P.Spec.Parallel.World) /
           static_cast<double>(P.Schedule.Stages);
  return OfOne * countRanks(Chosen);
}
