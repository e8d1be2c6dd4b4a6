// SPDX-License-Identifier: Apache-2.0
#include "ir/model/Partition.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::ir;

std::vector<int64_t> foretrace::ir::blockTpLayers(int64_t Layers,
                                                  int64_t Stages) {
  // I x (Layers + 2) / Stages, which does not overflow this way.
  const int64_t Share = (Layers + 2) / Stages;
  const int64_t Rest = (Layers + 2) % Stages;
  std::vector<int64_t> Bounds;
  for (int64_t I = 0; I <= Stages; ++I)
    Bounds.push_back(I * Share + I * Rest / Stages);
  const auto End = static_cast<size_t>(Stages);
  const int64_t Last = Bounds[End] - Bounds[End - 1];
  if (Stages > 2 && Last > Bounds[End - 1] - Bounds[End - 2] &&
      Bounds[End - 1] != Layers - 1)
    ++Bounds[End - 1];
  std::vector<int64_t> Counts;
  for (size_t I = 0; I < End; ++I)
    Counts.push_back(std::min(Bounds[I + 1], Layers) -
                     std::min(Bounds[I], Layers));
  return Counts;
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

/// Layers of each chunk of a model without a tower.
static std::vector<int64_t> splitLayers(const ParallelSpec &Par,
                                        int64_t Layers) {
  std::vector<int64_t> Sizes;
  if (!Par.Layout.empty()) {
    for (const Located<int64_t> &L : Par.Layout)
      Sizes.push_back(*L);
    return Sizes;
  }
  if (*Par.Partition == PartitionKind::BlockTp)
    return blockTpLayers(Layers, *Par.Pp);
  if (Par.FirstStageLayers.isPresent() || Par.LastStageLayers.isPresent())
    return endedLayers(Par, Layers);
  const int64_t Chunks = *Par.Pp * *Par.Vpp;
  const int64_t Counted = Layers + *Par.EmbeddingAsLayer + *Par.LossAsLayer;
  Sizes.assign(static_cast<size_t>(Chunks), Counted / Chunks);
  // Embedding and loss take the places of layers if they count as such.
  Sizes.front() -= *Par.EmbeddingAsLayer;
  Sizes.back() -= *Par.LossAsLayer;
  return Sizes;
}

std::vector<int64_t> foretrace::ir::chunkLayers(const ParallelSpec &P,
                                                const ModelSpec &M) {
  const int64_t Tower = M.towerLayers();
  std::vector<int64_t> Sizes = splitLayers(P, M.splitLayers());
  Sizes.front() += Tower;
  return Sizes;
}
