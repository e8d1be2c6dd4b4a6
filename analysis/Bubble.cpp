// SPDX-License-Identifier: Apache-2.0
#include "analysis/Bubble.h"
#include "ir/schedule/Timeline.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Returns the number of micro-batches that the pipeline lacks to be full.
static Expr lacking(ExprScope P, Expr Stages, Expr MicroBatches) {
  return max(Stages + MicroBatches * -1, numberOf(P, 0));
}

/// Returns the bubble of a schedule from a file, which fixes all its numbers.
/// Each stage runs every micro-batch forward and backward.
static Expr bubbleOfRun(ExprScope P) {
  const Timeline Run(P->Schedule, unitTime);
  return numberOf(P, Run.length() - Run.work(0));
}

Expr foretrace::bubbleOf(ExprScope P) {
  const ParallelSpec &Par = P->Spec.Parallel;
  const Expr Pp = exprOf(P, Par.Pp), Ga = exprOf(P, Par.Ga), Before = Pp + -1,
             OtherChunks = exprOf(P, Par.Vpp) + -1;
  switch (*Par.Schedule) {
  case ScheduleKind::None:
    return numberOf(P, 0);
  case ScheduleKind::OneFOneB:
  case ScheduleKind::Interleaved:
  case ScheduleKind::GPipe:
  case ScheduleKind::Forward:
    return Before * 3;
  case ScheduleKind::LoopedBFS:
  case ScheduleKind::Interleaved1F1B:
    // Each further chunk waits for the first micro-batch to come round.
    return (Before + OtherChunks * lacking(P, Pp, Ga)) * 3;
  case ScheduleKind::ZeroBubbleH1:
  case ScheduleKind::InterleavedZeroBubble: {
    const Expr Lacking = lacking(P, Pp, Ga);
    return Before + Lacking + OtherChunks * max(Lacking, Lacking * 2 + Ga * -1);
  }
  case ScheduleKind::ZeroBubbleV:
    return max(Before, Pp * 4 + Ga * -2 + -2);
  case ScheduleKind::DualPipe:
    return Pp + -2;
  case ScheduleKind::DualPipeV:
    return Before * 2;
  case ScheduleKind::File:
    return bubbleOfRun(P);
  }
  llvm_unreachable("every schedule is handled");
}

Expr foretrace::stepsOf(ExprScope P) {
  return exprOf(P, P->Spec.Parallel.Ga) * exprOf(P, P->Spec.Parallel.Vpp) * 3;
}

Expr foretrace::bubbleShareOf(ExprScope P) {
  const Expr Waits = bubbleOf(P);
  return floorDiv(Waits * 1000000, Waits + stepsOf(P));
}
