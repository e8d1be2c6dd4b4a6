// SPDX-License-Identifier: Apache-2.0
//
// What is in the memory of a rank while a block runs for a micro-batch, beside
// parameters, their gradients and the optimizer's state.
#ifndef FORETRACE_IR_LIVENESS_H
#define FORETRACE_IR_LIVENESS_H

#include "ir/Measure.h"

namespace foretrace::ir {

/// A moment of a block: while an op runs.
struct Moment {
  OpId At; ///< invalid if no op needs anything
  Expr Live;
};

/// Whether what a layer of \p B keeps from forward to backward is in the memory
/// of the host meanwhile: never of the ends of the layers.
bool isOffloaded(const Program &P, const Block &B);

/// Values of one storage are in memory once: parts of a tensor and the whole,
/// what is summed or reduced in place. A storage lives from the op that makes
/// it to the last that reads it; the gradient of a parameter ends with the op
/// that makes it, whose sum over micro-batches is counted elsewhere.
class Liveness {
public:
  /// \p B is measured and has its backward ops.
  Liveness(Program &P, const Block &B);

  /// What stays from forward to backward. Values that backward, or computing
  /// again for it, reads: Korthikanti et al., arXiv 2205.05198, section 4.
  Expr kept() const;
  /// The most there is in a phase: the first such moment. Backward has what is
  /// computed again, and the gradients that come from the block behind.
  Moment most(Phase Of) const;

private:
  /// First and Last are ops, by index: what makes it, and the last that uses
  /// it. What was there before the first op has -1.
  struct Storage {
    ValueId Of;
    int First, Last;
  };
  void share();
  ValueId rootOf(ValueId V) const;
  void findLives();
  Expr sizeOf(const Storage &S) const;
  Expr liveAt(int Op) const;

  Program &P;
  const Block &B;
  std::vector<ValueId> Shared; ///< by value: whose storage it has
  std::vector<Storage> Storages;
  int FirstBackward; ///< the first op after forward
};

} // namespace foretrace::ir

#endif
