// SPDX-License-Identifier: Apache-2.0
//
// The memory of a device that serves: weights, what a step needs, and the pool
// of blocks for the tokens and states of sequences.
#pragma once

#include "ir/model/Measure.h"
#include <optional>
#include <vector>

namespace foretrace {

/// Bytes that a layer of one block caches on a rank.
struct LayerCache {
  unsigned Block;
  int64_t Limit = 0;    ///< tokens of a sequence that it keeps at most; 0: all
  ir::Expr OfToken;     ///< bytes
  ir::Expr OfSequence;  ///< bytes of states, whatever the length
};

/// Returns the layers of each block that leave something, by block.
std::vector<LayerCache> cachesOf(ir::ExprScope P);

/// Bytes that the layers of a stage cache on a rank.
struct StageCache {
  ir::Expr OfToken;    ///< bytes of a token, of layers without a limit
  ir::Expr OfLimited;  ///< bytes of a token, of layers with one
  ir::Expr OfSequence; ///< bytes of the states of a sequence
};
StageCache cacheOf(ir::ExprScope P, const ir::Stage &S);

/// The memory of a rank of one stage.
struct CachePool {
  int64_t Resident = 0;   ///< bytes of weights
  int64_t Step = 0;       ///< bytes that a step needs besides
  int64_t Room = 0;       ///< bytes for blocks
  int64_t Page = 0;       ///< bytes of a block; 0 if its layers leave nothing
  int64_t OfLayer = 0;    ///< bytes of one layer's page, if layers are unlike
  int64_t Block = 0;      ///< tokens of a block of full attention; 0 without
  int64_t Groups = 0;     ///< tables of blocks of a sequence
  int64_t Blocks = 0;
  bool IsAlike = true;       ///< whether all layers keep all tokens
  bool DoPagesDivide = true; ///< whether pages are whole numbers of tokens
};

/// Capacity of an instance: that of its stage with the fewest blocks.
struct CacheCapacity {
  std::vector<CachePool> Stages; ///< in the order of Program::Stages
  std::optional<int64_t> Block, Blocks, Tokens; ///< none without such layers
  int64_t Sequences = 0; ///< of input + output tokens, of one replica
  bool IsAlike = true, DoPagesDivide = true; ///< of all stages
};

/// Returns the capacity of devices with \p Memory bytes; nothing if a size is
/// beyond 2^63.
std::optional<CacheCapacity> cacheCapacityOf(ir::ExprScope P, int64_t Memory);

} // namespace foretrace
