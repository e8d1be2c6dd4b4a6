// SPDX-License-Identifier: Apache-2.0
//
// FLOPs of a job's blocks, stages and iterations, summed from the work of its
// ops by one of the conventions in use.
#ifndef FORETRACE_ANALYSIS_FLOPCOUNTER_H
#define FORETRACE_ANALYSIS_FLOPCOUNTER_H

#include "analysis/Work.h"
#include <string>
#include <vector>

namespace foretrace {

/// How scores that a causal mask hides count.
enum class AttentionCount : unsigned char {
  Causal, ///< not at all: Megatron-LM, since core 0.12
  Full    ///< as the others: Narayanan et al. 2021, Korthikanti et al. 2022
};

/// How hardware FLOPs count what selective recomputation repeats.
enum class HardwareCount : unsigned char {
  Executed,
  /// 72 B L s h^2 (1 + s/3h + V/12hL): as if its backward, too, were done
  /// again.
  Korthikanti
};

struct FlopConvention {
  AttentionCount Attention = AttentionCount::Causal;
  bool Router = true;     ///< products of routers are work
  bool Embedding = false; ///< a lookup is a product with the whole table
  HardwareCount Hardware = HardwareCount::Executed;
};

/// What is done in each phase. Sums may be beyond 2^63, as those of all ranks
/// are; the expression is then without a value.
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

/// One layer, for a micro-batch.
struct BlockWork {
  std::string Name;
  int64_t Layers; ///< like it, in the model
  PhaseWork OfReplica; ///< what several ranks compute alike counts once
};

/// All stages like one, in an iteration.
struct StageWork {
  const ir::Stage *Of;
  int64_t Ranks; ///< of each of them
  PhaseWork OfRank;
};

class FlopCounter {
public:
  /// \p P is totalled.
  FlopCounter(ir::ExprScope P, const FlopConvention &By);

  /// Whether the work of a single op is beyond 2^63; then nothing else holds.
  bool isOverflow() const { return IsOverflow; }
  llvm::ArrayRef<BlockWork> blocks() const { return Blocks; }
  llvm::ArrayRef<StageWork> stages() const { return Stages; }
  /// Of all replicas.
  PhaseWork iteration();
  /// Forward and backward, of a token.
  PhaseWork::Amount ofToken();
  PhaseWork::Amount tokensOfIteration();
  /// What ranks do beside that: the same as others.
  __int128 repeated();

private:
  PhaseWork none();
  PhaseWork ofMicroBatch();
  PhaseWork countBlock(const ir::Block &B, WorkOf Of);
  std::optional<ir::Expr> countOp(const ir::Block &B, const ir::Op &O,
                                  WorkOf Of);

  int64_t timesCounted(const ir::Block &B, const ir::Op &Scores) const;

  ir::ExprScope P;
  const FlopConvention By;
  std::vector<BlockWork> Blocks; ///< in the order of the model
  std::vector<StageWork> Stages;
  bool IsOverflow = false;
};

} // namespace foretrace

#endif
