// SPDX-License-Identifier: Apache-2.0
#include "backends/megatron/Skeleton.h"
#include "backends/megatron/Bodies.h"
#include "ir/schedule/ScheduleWalker.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include <array>

using namespace foretrace;
using namespace foretrace::megatron;
using ir::ActionKind;

Skeleton::Skeleton(const ir::Program &Of, Instrumentation How)
    : P(Of), How(How) {
  for (const ir::Stage &S : P->Stages)
    Bodies.push_back(makeBodies(P, S, How));
}

namespace {

/// Turns the actions of one stage into rows.
class Rows {
public:
  Rows(const StageBodies &B, const ir::Schedule &S, int64_t Stage,
       llvm::function_ref<bool(const TraceRow &)> Visit)
      : B(B), S(S), Stage(Stage), Visit(Visit) {}

  bool take(const ir::Action &A);

private:
  void row(const RowBody &Body, const ir::Action &A);
  void forward(const ir::Action &A);

  const StageBodies &B;
  const ir::Schedule &S;
  const int64_t Stage;
  llvm::function_ref<bool(const TraceRow &)> Visit;
  std::array<int64_t, NumRowKinds> Seen = {}; ///< rows of each kind
  bool Running = true;
};

} // namespace

/// Megatron-LM's instrumentation gives a state of its own to the separate
/// receive before the steady state.
static RowState stateOf(const ir::Action &A) {
  switch (A.Phase) {
  case ir::SchedulePhase::Warmup:
    return RowState::Warmup;
  case ir::SchedulePhase::Steady:
    return A.Kind == ActionKind::RecvForward && !A.isFused() ? RowState::Help
                                                             : RowState::Steady;
  case ir::SchedulePhase::Cooldown:
    return RowState::Cooldown;
  case ir::SchedulePhase::Finalize:
    return RowState::Finalize;
  }
  llvm_unreachable("every phase is handled");
}

void Rows::row(const RowBody &Body, const ir::Action &A) {
  if (Running)
    Running = Visit({&Body, Stage, Seen[static_cast<unsigned>(Body.Kind)]++,
                     S.Chunks > 1 ? A.Chunk : -1, stateOf(A), A});
}

void Rows::forward(const ir::Action &A) {
  const bool IsStart = Stage == 0 && A.Chunk == 0;
  const bool IsEnd = Stage == S.Stages - 1 && A.Chunk == S.Chunks - 1;
  if (IsStart || IsEnd)
    row(B.GetBatch, A);
  row(B.Forward[static_cast<size_t>(A.Chunk)], A);
  if (IsEnd)
    row(B.Loss, A);
}

bool Rows::take(const ir::Action &A) {
  switch (A.Kind) {
  case ActionKind::RecvForward:
    row(B.RecvForward, A);
    break;
  case ActionKind::Forward:
    forward(A);
    break;
  case ActionKind::SendForward:
    row(B.SendForward, A);
    break;
  case ActionKind::RecvBackward:
    row(B.RecvBackward, A);
    break;
  case ActionKind::Backward:
    row(B.Backward[static_cast<size_t>(A.Chunk)], A);
    break;
  case ActionKind::SendBackward:
    row(B.SendBackward, A);
    break;
  case ActionKind::Reduce:
    for (const RowBody &Body : llvm::ArrayRef(B.Finalize).drop_back())
      row(Body, A);
    break;
  case ActionKind::Step:
    row(B.Finalize.back(), A);
    break;
  case ActionKind::BackwardInput:
  case ActionKind::BackwardWeight:
    llvm_unreachable("no trace shows a split backward step");
  }
  return Running;
}

/// Visits the rows of one micro-batch on one rank without communication.
static void
forEachScalingRow(const StageBodies &B, const ir::Schedule &S, int64_t Stage,
                  llvm::function_ref<bool(const TraceRow &)> Visit) {
  std::vector<const RowBody *> Order;
  const bool IsLast = Stage == S.Stages - 1;
  if (Stage == 0 || IsLast)
    Order.push_back(&B.GetBatch);
  Order.push_back(&B.Forward.front());
  if (IsLast)
    Order.push_back(&B.Loss);
  Order.push_back(&B.Backward.front());
  for (const RowBody &Body : B.Finalize)
    Order.push_back(&Body);
  for (const RowBody *Body : Order)
    if (!Visit({Body, Stage, 0, -1, Body->State, {}}))
      return;
}

void Skeleton::forEachRow(
    int64_t Stage, llvm::function_ref<bool(const TraceRow &)> Visit) const {
  auto Found = llvm::partition_point(P->Stages, [&](const ir::Stage &S) {
    return S.First + S.Count <= Stage;
  });
  const StageBodies &B = Bodies[static_cast<size_t>(Found - P->Stages.begin())];
  if (How.Scaling)
    return forEachScalingRow(B, P->Schedule, Stage, Visit);
  Rows R(B, P->Schedule, Stage, Visit);
  forEachAction(P->Schedule, Stage,
                [&](const ir::Action &A) { return R.take(A); });
}

std::vector<TraceRow> Skeleton::rows(int64_t Stage) const {
  std::vector<TraceRow> Rows;
  forEachRow(Stage, [&](const TraceRow &R) {
    Rows.push_back(R);
    return true;
  });
  return Rows;
}
