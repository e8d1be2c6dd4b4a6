// SPDX-License-Identifier: Apache-2.0
//
// The schedule that a file says: a program for each stage, its steps in order,
// as numbers. A step waits for its input right before it, and sends right
// after.
#include "passes/schedules/Schedules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace foretrace;
using namespace foretrace::ir;

static void receive(ScheduleBuilder &B, CellKind Kind, StepExpr Of) {
  if (Kind == CellKind::Forward)
    B.recvForward(Of);
  else if (Kind != CellKind::BackwardWeight)
    B.recvBackward(Of);
}

static void send(ScheduleBuilder &B, CellKind Kind, StepExpr Of) {
  if (Kind == CellKind::Forward)
    B.sendForward(Of);
  else if (Kind != CellKind::BackwardWeight)
    B.sendBackward(Of);
}

static void run(ScheduleBuilder &B, CellKind Kind, StepExpr Of) {
  switch (Kind) {
  case CellKind::Forward:
    B.forward(Of);
    return;
  case CellKind::Backward:
    B.backward(Of);
    return;
  case CellKind::BackwardInput:
    B.backwardInput(Of);
    return;
  case CellKind::BackwardWeight:
    B.backwardWeight(Of);
    return;
  default:
    llvm_unreachable("a spec has steps only");
  }
}

static void addSteps(ScheduleBuilder &B, const CellEntry &Entry) {
  auto ForEach = [&](auto Do) {
    for (const Cell &C : Entry.Cells)
      Do(C.Kind, StepExpr{B.number(C.MicroBatch),
                          B.number(B.schedule().placeOf(C.Part).Chunk)});
  };
  ForEach([&](CellKind K, StepExpr Of) { receive(B, K, Of); });
  bool IsFirst = true;
  ForEach([&](CellKind K, StepExpr Of) {
    if (!IsFirst)
      B.overlapped();
    IsFirst = false;
    run(B, K, Of);
  });
  ForEach([&](CellKind K, StepExpr Of) { send(B, K, Of); });
}

/// Returns where the steady phase of a stage begins and ends: at the first
/// backward step, and after the last forward step.
static std::pair<size_t, size_t>
findSteady(llvm::ArrayRef<ScheduleSteps> Steps) {
  auto Has = [](const ScheduleSteps &At, bool IsForward) {
    return llvm::any_of(At.Entry.Cells, [&](const Cell &C) {
      return (C.Kind == CellKind::Forward) == IsForward;
    });
  };
  size_t First = 0, Last = Steps.size();
  while (First < Last && !Has(Steps[First], /*IsForward=*/false))
    ++First;
  while (Last > First && !Has(Steps[Last - 1], /*IsForward=*/true))
    --Last;
  return {First, Last};
}

void foretrace::buildFile(ScheduleBuilder &B, const ParallelSpec &Par) {
  for (const auto &[Stage, Steps] : llvm::enumerate(Par.Steps)) {
    B.program(static_cast<int64_t>(Stage));
    const auto [First, Last] = findSteady(Steps);
    for (size_t I = 0; I < Steps.size(); ++I) {
      if (I == 0 || I == First || I == Last)
        B.once(I < First  ? SchedulePhase::Warmup
               : I < Last ? SchedulePhase::Steady
                          : SchedulePhase::Cooldown);
      B.at(Steps[I].Range);
      addSteps(B, Steps[I].Entry);
    }
    B.at({});
    B.finalize();
  }
}
