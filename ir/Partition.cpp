// SPDX-License-Identifier: Apache-2.0
#include "ir/Partition.h"
#include <algorithm>

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
