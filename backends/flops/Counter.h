// SPDX-License-Identifier: Apache-2.0
//
// FLOPs of a job's blocks, stages and iterations, summed from the work of its
// ops as the options count them. Private to the backend.
#ifndef FORETRACE_BACKENDS_FLOPS_COUNTER_H
#define FORETRACE_BACKENDS_FLOPS_COUNTER_H

#include "analysis/Work.h"
#include "backends/flops/Flops.h"

namespace foretrace::flops {

/// What is done in each phase. Sums may be beyond 2^63, as those of all ranks
/// are; the expression is then without a value.
struct Work {
  struct Amount {
    __int128 Value;
    ir::Expr From;

    Amount operator+(const Amount &More) const {
      return {Value + More.Value, From + More.From};
    }
    Figure figure() const { return {Value, From}; }
  };
  Amount Forward, Recomputed, Backward;

  Amount model() const { return Forward + Backward; }
  Amount hardware() const { return model() + Recomputed; }

  Work &operator+=(const Work &More);
  Work operator*(ir::Expr Times) const;
};

/// One layer, for a micro-batch.
struct BlockWork {
  std::string Name;
  int64_t Layers; ///< like it, in the model
  Work OfReplica; ///< what several ranks compute alike counts once
};

/// All stages like one, in an iteration.
struct StageWork {
  std::string Name; ///< `3`, `1-6`
  int64_t Ranks;    ///< of all of them
  Work OfRank;
};

class Counter {
public:
  /// \p P is totalled.
  Counter(const ir::Program &P, const Options &O);

  /// Whether the work of a single op is beyond 2^63; then nothing else holds.
  bool isOverflow() const { return IsOverflow; }
  llvm::ArrayRef<BlockWork> blocks() const { return Blocks; }
  llvm::ArrayRef<StageWork> stages() const { return Stages; }
  /// Of all replicas.
  Work iteration();
  /// Forward and backward, of a token.
  Work::Amount ofToken();
  Work::Amount tokensOfIteration();
  /// What ranks do beside that: the same as others.
  __int128 repeated();

  ir::ExprTable takeSizes() { return std::move(P.Sizes); }

private:
  Work none();
  Work ofMicroBatch();
  Work countBlock(const ir::Block &B, WorkOf Of);
  std::optional<ir::Expr> countOp(const ir::Block &B, const ir::Op &O,
                                  WorkOf Of);

  int64_t timesCounted(const ir::Block &B, const ir::Op &Scores) const;

  ir::ExprOverlay P;
  const Options &O;
  std::vector<BlockWork> Blocks; ///< in the order of the model
  std::vector<StageWork> Stages;
  bool IsOverflow = false;
};

} // namespace foretrace::flops

#endif
