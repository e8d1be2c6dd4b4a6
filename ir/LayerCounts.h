// SPDX-License-Identifier: Apache-2.0
//
// Which blocks of a program are run, and how often.
#ifndef FORETRACE_IR_LAYERCOUNTS_H
#define FORETRACE_IR_LAYERCOUNTS_H

#include "ir/Measure.h"
#include "llvm/ADT/MapVector.h"

namespace foretrace::ir {

/// Layers of each block, by its index, in the order of first use.
using LayerCounts = llvm::MapVector<unsigned, int64_t>;
/// Adds those of \p S, \p Times over.
void addLayers(const LayerSequence &S, int64_t Times, LayerCounts &To);
LayerCounts layersByBlock(const LayerSequence &S);
/// Of all chunks.
LayerCounts layersByBlock(const Stage &S);

/// `embedding + 12 layer`: the blocks of a chunk; `nothing` if it has none.
std::string describe(const LayerSequence &S, const Program &P);

/// Micro-batches that go through each chunk in an iteration.
Expr microBatchesOfChunk(Program &P);

} // namespace foretrace::ir

#endif
