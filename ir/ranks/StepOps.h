// SPDX-License-Identifier: Apache-2.0
//
// What a step of a schedule runs: the ops of the layers of its chunk that are
// of its half. The seam between schedules and blocks.
#ifndef FORETRACE_IR_RANKS_STEPOPS_H
#define FORETRACE_IR_RANKS_STEPOPS_H

#include "ir/model/Program.h"
#include <map>

namespace foretrace::ir {

/// The action that runs each op of \p B: `Forward`, `BackwardInput`,
/// `BackwardWeight`, or `Step`. The half of weights are the ops `.wgrad`, what
/// only they use, and what is made of their results; everything else in
/// backward, recomputed ops too, is what gradients of inputs may need.
Table<OpId, ActionKind> actionsOf(const Block &B);

/// Whether a step of kind \p Step runs the ops of an action: a whole backward
/// step runs both halves.
inline bool runs(ActionKind Step, ActionKind OfOp) {
  return Step == OfOp ||
         (Step == ActionKind::Backward && (OfOp == ActionKind::BackwardInput ||
                                           OfOp == ActionKind::BackwardWeight));
}

/// What the ops of a step of kind \p Step take for all of \p Layers, one after
/// the other. Collectives take what their ops say.
Nanoseconds timeOf(const Program &P, const LayerSequence &Layers,
                   ActionKind Step);

/// The same of all steps of all stages, in an iteration.
Nanoseconds timeOfSteps(const Program &P);

/// What each step of the schedule of a program with costs takes, in ns; a step
/// of more than 2^63 takes that. Messages, reduction and update take nothing.
class StepTimes {
public:
  explicit StepTimes(const Program &P) : P(P) {}

  int64_t operator()(int64_t Stage, const Action &A);

private:
  const Program &P;
  std::map<std::pair<const LayerSequence *, ActionKind>, int64_t> Known;
};

} // namespace foretrace::ir

#endif
