// SPDX-License-Identifier: Apache-2.0
//
// Data that crosses the cuts between parts of the model.
#pragma once

#include "ir/model/Measure.h"

namespace foretrace::ir {

/// The message between two stages: the outputs of a block, or their gradients.
/// Messages of the same bytes have the same id.
using BoundaryId = Id<struct BoundaryTag>;

/// Returns the message that part \p Part of the model, in the numbering of the
/// schedule, sends to the next one for a micro-batch, or the one that it gets
/// back if \p IsForward is false.
BoundaryId boundaryAfter(const Program &P, int64_t Part, bool IsForward);

/// Returns the values of a message.
std::vector<const Value *> valuesOf(const Program &P, BoundaryId Boundary);
/// Returns their bytes on one rank.
Expr boundarySize(ExprScope P, BoundaryId Boundary);
Bytes boundaryBytes(const Program &P, BoundaryId Boundary);

/// Messages of a stage for a micro-batch that are alike.
struct StageMessages {
  int64_t Distance; ///< stages from the sender to the receiver
  BoundaryId Boundary;
  int64_t Count;
};
/// Returns the messages of a stage to other stages, in both directions unless
/// the job serves, in order of distance.
llvm::SmallVector<StageMessages, 2> messagesOf(const Program &P, int64_t Stage);

} // namespace foretrace::ir
