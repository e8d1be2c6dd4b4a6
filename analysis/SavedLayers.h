// SPDX-License-Identifier: Apache-2.0
//
// Layers whose activations a rank has saved at a time, counted by block: what
// they weigh is asked later, of one job or of many.
#pragma once

#include "analysis/InFlight.h"
#include "analysis/LayerCounts.h"

namespace foretrace {

/// A step of a schedule during which a rank may need most memory.
struct MemoryStep {
  ir::Action At;
  int64_t InFlight; ///< micro-batches of all chunks
  unsigned Kind;    ///< of the chunk that runs, an index into Stage::Chunks
  unsigned Runs;    ///< the block of the layer that runs, by index
  /// Layers times micro-batches with saved activations, the one that runs left
  /// out; of each block of the stage, in the order of first use.
  LayerCounts Saved;
};

/// Returns the steps of stage \p Index at which its memory can peak, in order,
/// whatever its layers save and need.
std::vector<MemoryStep> memorySteps(const ir::Program &P, int64_t Index);

/// Saved activations of stages with the same layers at their maximum.
struct SavedLayers {
  /// A layer that runs beside others. Only where ZeRO has units, which differ
  /// by chunk, is the kind of the chunk one of several.
  struct Running {
    unsigned Kind;
    unsigned Block;
    bool IsForward;
    std::vector<LayerCounts> Beside;
  };
  /// For each list: whatever layers save, one of its counts is the most.
  std::vector<LayerCounts> All; ///< layers that run included
  std::vector<Running> Steps;
  int64_t InFlight = 0; ///< micro-batches of all chunks at most
};

/// Returns the saved layers of the stages of \p S. Lengths of lists are powers
/// of two, so that jobs with other counts have lists of the same length.
SavedLayers savedLayers(const ir::Program &P, const ir::Stage &S);

} // namespace foretrace
