// SPDX-License-Identifier: Apache-2.0
//
// Blocks that a program runs, and how often.
#pragma once

#include "ir/model/Measure.h"
#include "llvm/ADT/MapVector.h"

namespace foretrace {

/// Number of layers of each block, by its index, in the order of first use.
using LayerCounts = llvm::MapVector<unsigned, int64_t>;
/// Adds the layers of \p S, \p Times over.
void addLayers(const ir::LayerSequence &S, int64_t Times, LayerCounts &To);
LayerCounts layersByBlock(const ir::LayerSequence &S);
/// Returns the layers of all chunks.
LayerCounts layersByBlock(const ir::Stage &S);

/// Returns the number of the first chunk of a run of \p S, which represents the
/// run in KeyId::StageChunk.
unsigned firstChunk(const ir::Stage &S, size_t Run);

/// Returns the blocks of a chunk, as in `embedding + 12 layer`, or `nothing`.
std::string describe(const ir::LayerSequence &S, const ir::Program &P);

/// Returns the number of ranks per pipeline stage.
int64_t ranksOfStage(const ir::Program &P);

/// Returns the number of micro-batches that pass through each chunk in an
/// iteration.
ir::Expr microBatchesOfChunk(ir::ExprScope P);

} // namespace foretrace
