// SPDX-License-Identifier: Apache-2.0
//
// Which blocks of a program are run, and how often.
#ifndef FORETRACE_ANALYSIS_LAYERCOUNTS_H
#define FORETRACE_ANALYSIS_LAYERCOUNTS_H

#include "ir/model/Measure.h"
#include "llvm/ADT/MapVector.h"

namespace foretrace {

/// Layers of each block, by its index, in the order of first use.
using LayerCounts = llvm::MapVector<unsigned, int64_t>;
/// Adds those of \p S, \p Times over.
void addLayers(const ir::LayerSequence &S, int64_t Times, LayerCounts &To);
LayerCounts layersByBlock(const ir::LayerSequence &S);
/// Of all chunks.
LayerCounts layersByBlock(const ir::Stage &S);

/// `embedding + 12 layer`: the blocks of a chunk; `nothing` if it has none.
std::string describe(const ir::LayerSequence &S, const ir::Program &P);

/// Ranks of each pipeline stage.
int64_t ranksOfStage(const ir::Program &P);

/// Micro-batches that go through each chunk in an iteration.
ir::Expr microBatchesOfChunk(ir::ExprScope P);

} // namespace foretrace

#endif
