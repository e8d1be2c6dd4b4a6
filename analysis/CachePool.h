// SPDX-License-Identifier: Apache-2.0
//
// The memory of a device that serves: weights, what a step needs, and the pool
// of blocks for the tokens and states of sequences.
#pragma once

#include "ir/model/Measure.h"
#include <vector>

namespace foretrace {

/// What a layer of one block leaves in the cache of a rank.
struct LayerCache {
  unsigned Block;
  int64_t Limit = 0;    ///< tokens of a sequence that it keeps at most; 0: all
  ir::Expr OfToken;     ///< bytes
  ir::Expr OfSequence;  ///< bytes of states, whatever the length
};

/// Returns the layers of each block that leave something, by block.
std::vector<LayerCache> cachesOf(ir::ExprScope P);

/// What the layers of a stage leave in the cache of a rank.
struct StageCache {
  ir::Expr OfToken;    ///< bytes of a token, of layers without a limit
  ir::Expr OfLimited;  ///< bytes of a token, of layers with one
  ir::Expr OfSequence; ///< bytes of the states of a sequence
};
StageCache cacheOf(ir::ExprScope P, const ir::Stage &S);

/// Blocks of the pool of a rank of one stage.
struct CachePool {
  int64_t Resident; ///< bytes of weights
  int64_t Step;     ///< bytes that a step needs besides
  int64_t Room;     ///< bytes for the pool; 0 if there are none
  int64_t Page;     ///< bytes of a block
  int64_t Block;    ///< tokens of a block of full attention
  int64_t Groups;   ///< tables of blocks of a sequence
  int64_t Blocks;
};

/// Returns that of \p S, of a device with \p Memory bytes.
CachePool poolOf(ir::ExprScope P, const ir::Stage &S, int64_t Memory);
/// Returns the blocks that a sequence of \p Tokens needs on a rank of \p S.
int64_t blocksOf(ir::ExprScope P, const ir::Stage &S, const CachePool &Pool,
                 int64_t Tokens);

} // namespace foretrace
