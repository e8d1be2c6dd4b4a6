// SPDX-License-Identifier: Apache-2.0
//
// Numbers of layers of pipeline stages.
#pragma once

#include "ir/model/Spec.h"

namespace foretrace::ir {

/// Returns the layers of each stage for `partition = block_tp`. The embedding
/// and the head count as one layer each but follow the others. If there are
/// more than two stages and the last has more layers than the one before, it
/// gives its first layer to that stage, unless it is the last layer of all.
/// Optimus-Prime, llama-tp-split. There must be at least as many layers as
/// stages.
std::vector<int64_t> blockTpLayers(int64_t Layers, int64_t Stages);

/// Upper bound of the number of chunks and stages, which are processed one by
/// one; no model has as many layers.
inline constexpr int64_t MaxChunks = 4096;

/// Returns the layers of each chunk, in execution order, if they depend only on
/// \p P: a layout, or a partition without weights. Layers of a tower are in the
/// first chunk, in addition to its share of the others (Megatron-LM,
/// pretrain_vlm.py, model_provider).
std::vector<int64_t> chunkLayers(const ParallelSpec &P, const ModelSpec &M);

} // namespace foretrace::ir
