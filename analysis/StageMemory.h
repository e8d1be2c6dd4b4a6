// SPDX-License-Identifier: Apache-2.0
//
// Memory of a rank of a pipeline stage, and when it has most.
#pragma once

#include "analysis/Liveness.h"
#include "analysis/SavedLayers.h"
#include "analysis/Units.h"
#include "lang/NumberText.h"

namespace foretrace {

/// When a rank has most.
enum class MemoryPhase : unsigned char {
  Forward,
  Backward,
  Update ///< of parameters, by the optimizer
};
llvm::StringRef getName(MemoryPhase P);

/// Memory of a rank of one stage, of this job: the parts of its peak.
struct StageMemory {
  /// Parameters, gradients, the optimizer's state and dummy wgrad buffers.
  ir::Expr Static;
  ir::Expr DummyWgrads;

  /// The step of the schedule that needs most; none if no step needs anything.
  std::optional<ir::Action> Step;
  int64_t InFlight;  ///< micro-batches of all chunks then
  ir::Expr Saved;    ///< activations of other layers than the one that runs
  ir::Expr Running;  ///< of the layer that runs, with what it saves
  ir::BlockId Block; ///< which one that is
  ir::OpId Op;       ///< which op of it runs

  ir::Expr Offloaded; ///< of a micro-batch, to the host's memory and back
  ir::Expr Update;    ///< extra memory while the optimizer runs

  MemoryPhase Phase; ///< that of the peak
  ir::Expr Peak;
};

/// Jobs for which an expression is valid.
enum class Validity : unsigned char {
  ThisJob, ///< its numbers: of several sums the largest here
  AnyKeys, ///< any other job of the structure: the largest of all
};

/// Consecutive stages with the same memory per rank at the same moment.
struct StagesMemory {
  IndexRange Stages;
  StageMemory Of;
};

/// Memory of the stages of one program; each is computed once.
class StageMemories {
public:
  /// \p P is totalled.
  StageMemories(ir::ExprScope P, Validity For);

  /// Returns the memory of stage \p Index in this job; nothing if a size
  /// exceeds 2^63.
  std::optional<StageMemory> of(int64_t Index);
  /// Returns all stages, in order; nothing if a size is beyond 2^63.
  std::optional<std::vector<StagesMemory>> all();
  // Memory of one rank of the stages that \p S represents:
  ir::Expr dummyWgradsOf(const ir::Stage &S);
  /// Weights, gradients, the optimizer's state and dummy wgrad buffers.
  ir::Expr staticOf(const ir::Stage &S);
  /// The peak; without a value if a size is beyond 2^63.
  ir::Expr peakOf(const ir::Stage &S);

private:
  /// Working memory of one layer of a block.
  struct LayerMoments {
    Moment Forward, Backward;
    /// The moments for any values of the keys; made when they are asked for.
    std::optional<ir::Expr> AnyForward, AnyBackward;
    ir::Expr Offloaded;
  };
  ir::Expr offloadedOf(const ir::Stage &S);
  ir::Expr keptOf(unsigned Block) const;
  ir::Expr anyMoment(unsigned Block, bool IsForward);
  const Moment &momentOf(unsigned Block, bool IsForward) const {
    return IsForward ? Layers[Block].Forward : Layers[Block].Backward;
  }
  /// Units of each kind of chunk of \p S.
  std::vector<ChunkUnits> unitsOf(const ir::Stage &S);
  bool areCountable(const ir::Stage &S, llvm::ArrayRef<ChunkUnits> Units) const;
  ir::Expr runningAt(const MemoryStep &Step,
                     llvm::ArrayRef<ChunkUnits> Units) const;
  std::optional<MemoryStep>
  heaviestStep(int64_t Index, llvm::ArrayRef<ChunkUnits> Units) const;
  void fill(const MemoryStep &Most, llvm::ArrayRef<ChunkUnits> Units,
            StageMemory &M);

  std::optional<StageMemory> compute(int64_t Index);
  ir::Expr peakHere(const ir::Stage &S);
  ir::Expr peakAnywhere(const ir::Stage &S);

  ir::ExprScope P;
  const Validity For;
  std::vector<LayerMoments> Layers;                          ///< by block
  llvm::DenseMap<int64_t, std::optional<StageMemory>> Known; ///< by stage
  llvm::DenseMap<const ir::Stage *, ir::Expr> Peaks;
};

/// The first of those whose ranks have most.
const StagesMemory &mostOf(llvm::ArrayRef<StagesMemory> Stages);

} // namespace foretrace
