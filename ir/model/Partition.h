// SPDX-License-Identifier: Apache-2.0
//
// How many layers each pipeline stage holds.
#ifndef FORETRACE_IR_MODEL_PARTITION_H
#define FORETRACE_IR_MODEL_PARTITION_H

#include "ir/model/Spec.h"

namespace foretrace::ir {

/// Layers of each stage by `partition = block_tp`: the embedding and the head
/// count as a layer each, but stand behind the others, and of more than two
/// stages a last one longer than the one before gives its first layer to it,
/// unless that is the last of all. Optimus-Prime, llama-tp-split. There are at
/// least as many layers as stages.
std::vector<int64_t> blockTpLayers(int64_t Layers, int64_t Stages);

/// Chunks are cut one by one, and each stage is looked at; no model has as many
/// layers.
inline constexpr int64_t MaxChunks = 4096;

/// Layers of each chunk of a model with \p Layers, in execution order, as \p P
/// alone says: by a layout, or a partition that weighs nothing.
std::vector<int64_t> chunkLayers(const ParallelSpec &P, int64_t Layers);

} // namespace foretrace::ir

#endif
