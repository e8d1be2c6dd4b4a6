// SPDX-License-Identifier: Apache-2.0
//
// The order in which interleaved stages take micro-batches through chunks: a
// group of micro-batches through every chunk, then the next group.
// Private to the passes.
#pragma once

#include "ir/schedule/ScheduleBuilder.h"

namespace foretrace {

/// Steps before the first, and after the last one, have no micro-batch or no
/// chunk that exists: their slots are empty.
class GroupedOrder {
public:
  explicit GroupedOrder(ir::ScheduleBuilder &B)
      : B(B), IsEven(B.schedule().MicroBatches % B.schedule().Group == 0) {}

  /// The \p K-th forward step of a stage.
  ir::StepExpr forward(ir::IndexExpr K) const;
  /// The \p K-th backward step, with chunks from the last one on.
  ir::StepExpr backward(ir::IndexExpr K) const {
    ir::StepExpr Of = forward(K);
    return {Of.MicroBatch, B.v() - 1 - Of.Chunk};
  }

private:
  ir::ScheduleBuilder &B;
  const bool IsEven; ///< all groups are of the same size
};

} // namespace foretrace
