// SPDX-License-Identifier: Apache-2.0
//
// What a rank of a pipeline stage has in memory, and when it has most.
#ifndef FORETRACE_ANALYSIS_STAGEMEMORY_H
#define FORETRACE_ANALYSIS_STAGEMEMORY_H

#include "analysis/InFlight.h"
#include "analysis/LayerCounts.h"
#include "analysis/Liveness.h"

namespace foretrace {

/// When a rank has most.
enum class MemoryPhase : unsigned char {
  Forward,
  Backward,
  Update ///< of parameters, by the optimizer
};
llvm::StringRef getName(MemoryPhase P);

/// Of one rank.
struct StageMemory {
  /// Parameters, gradients, the optimizer's state and stand-ins for gradients.
  ir::Expr Static;
  ir::Expr StandIns;

  /// The step of the schedule that needs most; nothing if none needs anything.
  std::optional<ir::Action> Step;
  InFlight Kept;        ///< micro-batches on their way then
  ir::Expr Activations; ///< kept for them, but for the layer that runs
  ir::Expr Running;     ///< in the layer that runs, what it keeps included
  ir::BlockId Block;    ///< which one that is
  ir::OpId Op;          ///< what runs in it

  ir::Expr Offloaded; ///< of a micro-batch, to the host's memory and back
  ir::Expr Update;    ///< what the optimizer needs besides while it runs

  MemoryPhase Phase; ///< that of the peak
  ir::Expr Peak;
};

/// Of the stages of one program.
class StageMemories {
public:
  /// \p P is totalled; it takes in sums.
  explicit StageMemories(ir::ExprScope P);

  /// Of stage \p Index; nothing if a size is beyond 2^63.
  std::optional<StageMemory> of(int64_t Index);

private:
  /// What one layer of a block needs while it runs.
  struct LayerMoments {
    Moment Forward, Backward;
    ir::Expr Offloaded;
  };
  /// A layer of a chunk at which its steps may need most.
  struct Candidate {
    unsigned Block = 0;
    int64_t Load = -1;  ///< beside what its micro-batch keeps in the chunk
    LayerCounts Behind; ///< layers that keep nothing then
  };
  struct ChunkMoments {
    Candidate Forward, Backward;
  };
  ir::Expr standInsOf(const ir::Stage &S);
  ir::Expr offloadedOf(const ir::Stage &S);
  int64_t keptOf(unsigned Block) const;
  const Moment &momentOf(unsigned Block, bool IsForward) const;
  Candidate heaviestLayer(const ir::LayerSequence &S, bool IsForward) const;
  void fill(const ir::Stage &S, const HeaviestStep &Most, const Candidate &Runs,
            StageMemory &M);

  ir::ExprScope P;
  std::vector<LayerMoments> Layers; ///< by block
};

/// Consecutive stages whose ranks have as much, at the same moment.
struct StagesMemory {
  int64_t First, Count;
  StageMemory Of;
};
/// `3`, or `1-6`.
std::string stagesOf(const StagesMemory &S);

/// All stages of \p P, in order; nothing if a size is beyond 2^63.
std::optional<std::vector<StagesMemory>> memoryOfStages(ir::ExprScope P);
/// The first of those whose ranks have most.
const StagesMemory &mostOf(llvm::ArrayRef<StagesMemory> Stages);

} // namespace foretrace

#endif
