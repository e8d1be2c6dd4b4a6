// SPDX-License-Identifier: Apache-2.0
//
// The index of a checkpoint of Hugging Face, model.safetensors.index.json: the
// size of all weights, and their names.
#pragma once

#include "tools/importers/Importers.h"

namespace foretrace::importers {

struct CheckpointIndex {
  SourceRange At;     ///< its start
  int64_t Parameters; ///< of all weights
  /// Starts of names, up to a layer's number, of weights that are not in the
  /// layers of the text model: `vision_tower.`, `model.layers.61.`.
  std::vector<std::string> Others;
};

/// Reads the index beside the configuration \p Config, whose text model has
/// \p Layers layers. Nothing if there is none, or if it does not say how many
/// parameters the weights have, as with weights of several types.
std::optional<CheckpointIndex> readCheckpointIndex(llvm::StringRef Config,
                                                   size_t Layers,
                                                   ImportRequest &Request);

} // namespace foretrace::importers
