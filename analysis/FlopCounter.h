// SPDX-License-Identifier: Apache-2.0
//
// FLOPs of a job's blocks, stages and iterations: sums of the work of ops under
// one of the usual conventions.
#pragma once

#include "analysis/Work.h"
#include <string>
#include <vector>

namespace foretrace {

/// The attention scores that are counted.
enum class AttentionCount : unsigned char {
  Causal, ///< what masks and windows leave: Megatron-Bridge, with windows
  Full,   ///< all: Narayanan et al. 2021, Korthikanti et al. 2022
  Half    ///< half of all, whatever the window: Megatron-LM since core 0.12
};

/// Treatment of selective recomputation in hardware FLOPs.
enum class HardwareCount : unsigned char {
  Executed,
  /// 72 B L s h^2 (1 + s/3h + V/12hL), which also repeats the backward pass.
  Korthikanti
};

struct FlopConvention {
  AttentionCount Attention = AttentionCount::Causal;
  bool Router = true;     ///< count the products of routers
  bool Embedding = false; ///< count a lookup as a product with the whole table
  HardwareCount Hardware = HardwareCount::Executed;
};

/// FLOPs of each phase. Sums may exceed 2^63, such as those over all ranks; the
/// expression then has no value.
struct PhaseWork {
  struct Amount {
    __int128 Value;
    ir::Expr From;

    Amount operator+(const Amount &More) const {
      return {Value + More.Value, From + More.From};
    }
  };
  Amount Forward, Recomputed, Backward;

  Amount model() const { return Forward + Backward; }
  Amount hardware() const { return model() + Recomputed; }

  PhaseWork &operator+=(const PhaseWork &More);
  PhaseWork operator*(ir::Expr Times) const;
};

/// FLOPs of one layer for a micro-batch.
struct BlockWork {
  std::string Name;
  int64_t Layers;      ///< number of such layers in the model
  PhaseWork OfReplica; ///< work that several ranks repeat counts once
};

/// FLOPs of all equal stages in an iteration.
struct StageWork {
  const ir::Stage *Of;
  int64_t Ranks; ///< ranks of each stage
  PhaseWork OfRank;
};

/// Returns the tokens that all replicas process in an iteration.
PhaseWork::Amount tokensOfIteration(ir::ExprScope P);

class FlopCounter {
public:
  /// \p P has totals.
  FlopCounter(ir::ExprScope P, const FlopConvention &By);

  /// Returns whether the work of a single op exceeds 2^63; all other results
  /// are then invalid.
  bool isOverflow() const { return IsOverflow; }
  llvm::ArrayRef<BlockWork> blocks() const { return Blocks; }
  llvm::ArrayRef<StageWork> stages() const { return Stages; }
  /// Returns the FLOPs of a replica for a micro-batch.
  PhaseWork ofMicroBatch();
  /// Returns the FLOPs of all replicas.
  PhaseWork iteration();
  /// Returns the forward and backward FLOPs per token.
  PhaseWork::Amount ofToken();
  /// Returns the FLOPs that ranks repeat in addition.
  __int128 repeated();

private:
  PhaseWork none();
  PhaseWork countBlock(const ir::Block &B, WorkOf Of);
  std::optional<ir::Expr> countOp(const ir::Block &B, const ir::Op &O,
                                  WorkOf Of);

  ir::Expr countScores(const ir::Block &B, const ir::Op &Scores,
                       ir::Expr Executed, WorkOf Whose) const;

  ir::ExprScope P;
  const FlopConvention By;
  std::vector<BlockWork> Blocks; ///< in the order of the model
  std::vector<StageWork> Stages;
  bool IsOverflow = false;
};

} // namespace foretrace
