// SPDX-License-Identifier: Apache-2.0
#include "ir/model/Boundary.h"
#include "ir/model/Measure.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

static const LayerSequence &layersOf(const Program &P, int64_t Part) {
  const Schedule::Place At = P.Schedule.placeOf(Part);
  return llvm::partition_point(
             P.Stages,
             [&](const Stage &S) { return S.First + S.Count <= At.Stage; })
      ->layersOf(At.Chunk);
}

std::vector<const Value *> foretrace::ir::boundaryAfter(const Program &P,
                                                        int64_t Part) {
  // What has no layers hands on what it gets.
  while (Part > 0 && layersOf(P, Part).empty())
    --Part;
  const LayerSequence &Layers = layersOf(P, Part);
  std::vector<const Value *> Values;
  if (Layers.empty())
    return Values;
  const Block &Last = P.Blocks[Layers.back().Runs.back().Block];
  for (ValueId V : Last.Signature.Outputs)
    Values.push_back(&Last.Values[V]);
  return Values;
}

Expr foretrace::ir::boundarySize(ExprScope P, int64_t Part) {
  Expr Sum = numberOf(P, 0);
  for (const Value *V : boundaryAfter(P, Part))
    Sum += bytesOnRank(P, *V);
  return Sum;
}

Bytes foretrace::ir::boundaryBytes(const Program &P, int64_t Part) {
  Bytes Sum;
  for (const Value *V : boundaryAfter(P, Part))
    Sum += bytesPerRank(P, *V);
  return Sum;
}
