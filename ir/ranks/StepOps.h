// SPDX-License-Identifier: Apache-2.0
//
// Ops that a step of a schedule runs: those of the layers of its chunk that
// belong to its half. This connects schedules and blocks.
#pragma once

#include "ir/model/Program.h"

namespace foretrace::ir {

/// Returns the action that runs each op of \p B: `Forward`, `BackwardInput`,
/// `BackwardWeight`, or `Step`. The weight half consists of the ops `.wgrad`,
/// ops that only these use, and ops that use their results. All other backward
/// ops, including recomputed ones, may be needed by gradients of inputs.
Table<OpId, ActionKind> actionsOf(const Block &B);

/// Returns whether a step of kind \p Step runs the ops of an action: a whole
/// backward step runs both halves.
inline bool runs(ActionKind Step, ActionKind OfOp) {
  return Step == OfOp ||
         (Step == ActionKind::Backward && (OfOp == ActionKind::BackwardInput ||
                                           OfOp == ActionKind::BackwardWeight));
}

/// Returns the total time of the ops of a step of kind \p Step for all of \p
/// Layers, without what is hidden of collectives.
Nanoseconds timeOf(const Program &P, const LayerSequence &Layers,
                   ActionKind Step);

/// Returns the total time of all steps of all stages in an iteration.
Nanoseconds timeOfSteps(const Program &P);

} // namespace foretrace::ir
