// SPDX-License-Identifier: Apache-2.0
//
// The memory of a device that serves: what a step needs besides weights, and
// the pool of blocks for the tokens and states of sequences, as expressions.
#pragma once

#include "ir/model/Measure.h"
#include <optional>
#include <vector>

namespace foretrace {

/// Returns the bytes that the step of \p P, the largest of its job, needs on a
/// rank of \p S besides weights: those of the widest layer, or of vLLM's
/// sampler, which runs on each rank.
ir::Expr workspaceOf(ir::ExprScope P, const ir::Stage &S);

/// Returns the bytes of DeepEP's buffers on a rank of \p S: of low-latency
/// kernels, and of normal ones in vLLM, whose sizes it sets.
ir::Expr exchangeBuffersOf(ir::ExprScope P, const ir::Stage &S);
/// Returns whether kernels of DeepEP exchange the tokens of experts.
bool usesDeepEP(const ir::Program &P);

/// The cache of a rank of one stage.
struct CachePool {
  ir::Expr OfToken;    ///< bytes of a token, of layers that keep all tokens
  ir::Expr OfLimited;  ///< bytes of a token, of layers with a limit
  ir::Expr OfSequence; ///< bytes of the states of a sequence
  std::optional<ir::Expr> Room; ///< bytes for blocks; none without a device
  // None if its layers leave nothing:
  std::optional<ir::Expr> Page;   ///< bytes of a block
  std::optional<ir::Expr> Blocks; ///< nor without a device or stated blocks
  std::optional<ir::Expr>
      Tokens; ///< in all blocks; none without full attention
  std::optional<ir::Expr> Needed; ///< blocks of input + output tokens
};

/// What a layer of one block caches on a rank.
struct LayerCache {
  unsigned Block;
  std::optional<ir::Expr> Limit; ///< tokens that it keeps; none: all
  bool IsChunk;                  ///< which are those of a chunk
  ir::Expr OfToken, OfSequence;  ///< bytes; of states, whatever the length
};

/// Pools of the stages of a program of the largest step.
class CachePools {
public:
  /// For devices with \p Memory bytes, if that is known.
  CachePools(ir::ExprScope P, std::optional<int64_t> Memory);

  /// Returns the layers that leave something, by block.
  llvm::ArrayRef<LayerCache> layers() const { return Caches; }
  /// Returns them in the order of Program::Stages.
  llvm::ArrayRef<CachePool> stages() const { return Stages; }
  // Of an instance: the stage with the least. None without blocks.
  std::optional<ir::Expr> bytes() const { return leastOf(&CachePool::Room); }
  std::optional<ir::Expr> blocks() const { return leastOf(&CachePool::Blocks); }
  std::optional<ir::Expr> tokens() const { return leastOf(&CachePool::Tokens); }
  /// Sequences of input + output tokens that one replica runs at once; none
  /// without a device or stated blocks.
  std::optional<ir::Expr> sequences() const;
  /// Tokens of a block of full attention, if there is any.
  std::optional<ir::Expr> block() const { return Block; }
  /// Returns whether it is known how the engine divides its pool. If not, no
  /// stage has blocks.
  bool hasRule() const;
  /// 1 if pages are whole numbers of tokens, else 0.
  ir::Expr doPagesDivide() const { return DoPagesDivide; }
  /// Numbers that decide which layers share a table of blocks: jobs in which
  /// they are the same have the same expressions.
  llvm::ArrayRef<ir::Expr> decisions() const { return Decisions; }

private:
  /// Layers of the model whose blocks an engine manages alike: tokens or
  /// states.
  struct Group {
    std::optional<ir::Expr> Limit, OfToken, States;
    int64_t Layers;
    bool IsChunk; ///< of Limit tokens
    std::vector<unsigned> Blocks = {};
  };

  int64_t decide(ir::Expr Of);
  bool areEqual(std::optional<ir::Expr> A, std::optional<ir::Expr> B);
  void findCaches();
  void findGroups();
  void setPages();
  int64_t tablesOf(const Group &G) const;
  ir::Expr partOf(ir::Expr Bytes) const;
  ir::Expr roomOf(const ir::Stage &S, int64_t Memory) const;
  ir::Expr blocksNeeded() const;
  CachePool poolOf(const ir::Stage &S, std::optional<int64_t> Memory) const;
  std::optional<ir::Expr>
  leastOf(std::optional<ir::Expr> CachePool::*Number) const;

  ir::ExprScope P;
  std::vector<LayerCache> Caches;
  std::vector<Group> Groups;
  int64_t GroupSize = 0; ///< layers that share a table of blocks
  bool IsAlike = true;
  std::optional<ir::Expr> Block, PageOfLayer;
  ir::Expr DoPagesDivide;
  std::vector<CachePool> Stages;
  std::vector<ir::Expr> Decisions;
};

} // namespace foretrace
