// SPDX-License-Identifier: Apache-2.0
//
// Cuts a folded sequence of layers into parts. Private to the passes.
#pragma once

#include "ir/model/Program.h"

namespace foretrace {

/// Appends; one run after another of the same block becomes one.
void append(ir::LayerSequence &Out, ir::LayerGroup G);

/// Folds a group of one run and several periods into one longer run.
ir::LayerGroup folded(ir::LayerGroup G);

/// Appends \p Of, \p Times over: as periods if that is shorter. Periods do not
/// nest, and each chunk is as long as its period when stages are made.
void repeat(ir::LayerSequence &Out, const ir::LayerSequence &Of, int64_t Times);

/// Returns the layers of \p M. The ids of blocks are indices of its blocks.
ir::LayerSequence sequenceOf(const ir::ModelSpec &M);
/// Sets the layers of \p M, the reverse of `sequenceOf`.
void setLayers(ir::ModelSpec &M, const ir::LayerSequence &Layers);

/// Cuts a folded sequence off from the front, piece by piece.
class LayerCutter {
public:
  explicit LayerCutter(const ir::LayerSequence &S) : S(S) {}

  /// The next \p Count layers, or those that are left, folded.
  ir::LayerSequence take(int64_t Count);

private:
  int64_t takeWholePeriods(const ir::LayerGroup &G, int64_t Count,
                           ir::LayerSequence &Out);
  int64_t takePartOfPeriod(const ir::LayerGroup &G, int64_t Count,
                           ir::LayerSequence &Out);

  const ir::LayerSequence &S;
  size_t Group = 0;
  int64_t Period = 0;   ///< periods of the group already taken
  int64_t InPeriod = 0; ///< layers of the current period already taken
};

} // namespace foretrace
