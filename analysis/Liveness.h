// SPDX-License-Identifier: Apache-2.0
//
// What is in the memory of a rank while a block runs for a micro-batch, beside
// parameters, their gradients and the optimizer's state.
#pragma once

#include "ir/model/Measure.h"

namespace foretrace {

/// A moment of a block: while an op runs.
struct Moment {
  ir::OpId At; ///< invalid if no op needs anything
  ir::Expr Live;
};

/// Returns whether saved activations of a layer of \p B are offloaded to host
/// memory. Those of the embedding and the head never are.
bool isOffloaded(const ir::Program &P, const ir::Block &B);

/// Values of one storage are in memory once: parts of a tensor and the whole,
/// what is summed or reduced in place. A storage lives from the op that makes
/// it to the last that reads it; the gradient of a parameter ends with the op
/// that makes it, whose sum over micro-batches is counted elsewhere.
class Liveness {
public:
  /// \p B is measured and has its backward ops.
  Liveness(ir::ExprScope P, const ir::Block &B);

  /// Activations saved for the backward pass: values that it reads, or that
  /// recomputation reads: Korthikanti et al., arXiv 2205.05198, section 4.
  ir::Expr kept() const;
  /// Returns whether the backward ops of \p B read \p V, or a part of it.
  static bool isReadBackward(ir::ExprScope P, const ir::Block &B,
                             ir::ValueId V);
  /// Peak of a phase: the first moment with the most memory. Backward has
  /// recomputed values, and the gradients from the following block.
  Moment most(ir::Phase Of) const;
  /// Returns the largest moment for any keys: the maximum of all moments that
  /// no other moment includes.
  ir::Expr any(ir::Phase Of) const;

private:
  /// First and Last are indices of ops: the one that makes it, and the last
  /// that uses it. Values from before the first op have -1.
  struct Storage {
    ir::ValueId Of;
    int First, Last;
  };
  /// Without \p IsBesideOthers, only what ops of the block read and make.
  Liveness(ir::ExprScope P, const ir::Block &B, bool IsBesideOthers);
  void share();
  ir::ValueId rootOf(ir::ValueId V) const;
  void findLives();
  Storage *findStorage(ir::ValueId V);
  void holdPassed();
  void findFirstGradient();
  void holdLogits();
  void holdMask();
  ir::Expr sizeOf(const Storage &S) const;
  ir::Expr liveAt(int Op) const;
  std::pair<int, int> opsOf(ir::Phase Of) const;

  ir::ExprScope P;
  const ir::Block &B;
  std::vector<ir::ValueId> Shared; ///< by value: whose storage it has
  std::vector<Storage> Storages;
  /// Gradients of all parameters, live from the op that makes the first one on,
  /// if ZeRO shards them after each micro-batch.
  ir::Expr UnitGradients;
  int FirstGradient;
  int FirstBackward; ///< the first op after forward
};

} // namespace foretrace
