// SPDX-License-Identifier: Apache-2.0
//
// Memory that ZeRO 2 and 3 need beside the shares of a rank. Weights and
// gradients are whole by units, which are the layers (Megatron-LM,
// distributed/fsdp/src/megatron_fsdp: megatron_fsdp.py, _register_fsdp_hooks;
// param_and_grad_buffer.py, _get_parameter_groups).
#pragma once

#include "analysis/LayerCounts.h"
#include <optional>

namespace foretrace {

/// Returns whether layers are units of FSDP: ZeRO is 2 or 3.
bool hasUnits(const ir::Program &P);

/// The unsharded sizes of one layer of a block, of the values that ZeRO shards
/// over more than one rank.
struct Unit {
  ir::Expr Elements;
  ir::Expr LastBucket; ///< elements that are reduced last: not of experts
  ir::Expr Gathered;   ///< bytes of weights
  /// Bytes of the weights that are freed after the pass, and of gradients.
  ir::Expr Weights, Gradients;
  /// Whether all gradients are reduced at once: those of experts are apart.
  bool IsOneBucket;
};
Unit unitOf(ir::ExprScope P, const ir::Block &B);

/// Memory of the units of one chunk of a stage while a block runs. A rank
/// has
///
/// - with ZeRO 3 the weights of the layer, of layers that are gathered ahead,
///   and of embedding and head, which stay once they are gathered;
/// - in the backward pass the gradients of the layer, which Liveness counts,
///   and those of layers that ran before and wait to be reduced.
///
/// A layer that is gathered ahead saves nothing yet in the forward pass, and
/// one whose gradients wait saves nothing any more. So the more of them there
/// are at a position, the less is saved: an expression is of the position that
/// needs most, less what is saved at the last layer of the block that runs,
/// whose saved activations are counted (analysis/SavedLayers.h). Where layers
/// of several blocks are neighbours, it is as if all were of the one that needs
/// most; and layers behind one of another block count in whole.
class ChunkUnits {
public:
  /// Makes the units of the chunks of one kind, an index into Stage::Chunks.
  ChunkUnits(ir::ExprScope P, const ir::Stage &S, unsigned Kind);

  /// Bytes while \p Block runs, beside those of its ops (analysis/Liveness.h).
  ir::Expr at(unsigned Block, bool IsForward) const;

private:
  ir::ExprScope P;
  /// The block that runs last in the forward pass, if the chunk has any.
  std::optional<unsigned> Last;
  std::optional<unsigned> LastLayer; ///< its block
  ir::Expr Ends; ///< weights of embedding and head, on the stage
  ir::Expr Kept; ///< of layers, which are not freed between the passes
  /// Layers that do not run while one does; backward the head as well.
  struct OtherLayers {
    ir::Expr Forward, Backward;
  };
  OtherLayers OfLast;  ///< while a layer of the last block runs
  OtherLayers OfOther; ///< while one of another block runs
  ir::Expr Embedding;  ///< of all layers and the head, at the very end
};

} // namespace foretrace
