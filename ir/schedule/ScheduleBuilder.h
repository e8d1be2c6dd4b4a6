// SPDX-License-Identifier: Apache-2.0
//
// Writes the programs of a schedule, slot by slot:
//
//   ScheduleBuilder B(S);
//   const IndexExpr I = B.i(), Ahead = min(B.p() - B.s() - 1, B.m());
//   B.program();
//   B.loop(SchedulePhase::Warmup, Ahead).recvForward(I).forward(I);
#pragma once

#include "ir/model/Schedule.h"

namespace foretrace::ir {

/// A closed form under construction: an id with the operators of its table,
/// which must outlive it.
class IndexExpr {
public:
  IndexExpr(IndexTable &T, IndexId Id) : T(&T), Id(Id) {}
  operator IndexId() const { return Id; }
  /// Returns the value if it is the same for every stage and index.
  std::optional<int64_t> constant() const { return T->constantAt(Id); }

  friend IndexExpr operator+(IndexExpr L, IndexExpr R) {
    return L.with(IndexOp::Add, R);
  }
  friend IndexExpr operator-(IndexExpr L, IndexExpr R) {
    return L.with(IndexOp::Sub, R);
  }
  friend IndexExpr operator*(IndexExpr L, IndexExpr R) {
    return L.with(IndexOp::Mul, R);
  }
  friend IndexExpr operator/(IndexExpr L, IndexExpr R) {
    return L.with(IndexOp::Div, R);
  }
  friend IndexExpr operator%(IndexExpr L, IndexExpr R) {
    return L.with(IndexOp::Mod, R);
  }
  friend IndexExpr min(IndexExpr L, IndexExpr R) {
    return L.with(IndexOp::Min, R);
  }
  friend IndexExpr max(IndexExpr L, IndexExpr R) {
    return L.with(IndexOp::Max, R);
  }
  friend IndexExpr operator+(IndexExpr L, int64_t R) { return L + L.number(R); }
  friend IndexExpr operator-(IndexExpr L, int64_t R) { return L - L.number(R); }
  friend IndexExpr operator*(IndexExpr L, int64_t R) { return L * L.number(R); }
  friend IndexExpr operator*(int64_t L, IndexExpr R) { return R.number(L) * R; }
  friend IndexExpr operator-(int64_t L, IndexExpr R) { return R.number(L) - R; }
  friend IndexExpr operator/(IndexExpr L, int64_t R) { return L / L.number(R); }
  friend IndexExpr operator%(IndexExpr L, int64_t R) { return L % L.number(R); }
  friend IndexExpr max(IndexExpr L, int64_t R) { return max(L, L.number(R)); }
  friend IndexExpr min(int64_t L, IndexExpr R) { return min(R.number(L), R); }

private:
  IndexExpr number(int64_t Value) const { return {*T, T->constant(Value)}; }
  IndexExpr with(IndexOp Op, IndexExpr R) const {
    return {*T, T->combine(Op, Id, R.Id)};
  }

  IndexTable *T;
  IndexId Id;
};

/// The pass of a micro-batch through a chunk.
struct StepExpr {
  IndexExpr MicroBatch, Chunk;
};

/// Builds schedules. Slots are appended to the current loop, and loops to the
/// current program. Peers and tags of messages follow from the placement.
class ScheduleBuilder {
public:
  /// \p S has its sizes and placement, but no programs yet.
  explicit ScheduleBuilder(Schedule &S) : S(S) {}

  const Schedule &schedule() const { return S; }
  IndexExpr number(int64_t N) { return {S.Indices, S.Indices.constant(N)}; }
  IndexExpr i() { return variable(IndexVariable::I); }
  IndexExpr s() { return variable(IndexVariable::S); }
  IndexExpr p() { return variable(IndexVariable::P); }
  IndexExpr v() { return variable(IndexVariable::V); }
  IndexExpr m() { return variable(IndexVariable::M); }
  IndexExpr g() { return variable(IndexVariable::G); }
  /// Gives \p E a name for printing, unless it has one or needs none.
  IndexExpr named(llvm::StringRef Name, IndexExpr E);
  /// Returns the step of the only chunk of a stage.
  StepExpr step(IndexExpr MicroBatch) { return {MicroBatch, number(0)}; }

  /// Begins the program of the stages from the one after the last program to \p
  /// Last; does nothing if \p Last is before that.
  bool program(int64_t Last);
  /// Begins the program of all stages.
  void program() { program(S.Stages - 1); }
  ScheduleBuilder &loop(SchedulePhase Phase, IndexExpr Count);
  ScheduleBuilder &once(SchedulePhase Phase) { return loop(Phase, number(1)); }
  /// Adds the end that all programs share.
  void finalize();

  /// The next slot begins with the previous one, or overlaps it.
  ScheduleBuilder &with() { return begin(SlotStart::With); }
  ScheduleBuilder &overlapped() { return begin(SlotStart::Overlapped); }
  /// Sets the source range of the following slots.
  void at(SourceRange R) { Range = R; }
  /// Combines consecutive messages of the following slots into one call.
  void joinMessages() { JoinsMessages = true; }

  ScheduleBuilder &forward(StepExpr Of) {
    return compute(ActionKind::Forward, Of);
  }
  ScheduleBuilder &backward(StepExpr Of) {
    return compute(ActionKind::Backward, Of);
  }
  ScheduleBuilder &backwardInput(StepExpr Of) {
    return compute(ActionKind::BackwardInput, Of);
  }
  ScheduleBuilder &backwardWeight(StepExpr Of) {
    return compute(ActionKind::BackwardWeight, Of);
  }
  ScheduleBuilder &recvForward(StepExpr Of) {
    return message(ActionKind::RecvForward, Of);
  }
  ScheduleBuilder &sendForward(StepExpr Of) {
    return message(ActionKind::SendForward, Of);
  }
  ScheduleBuilder &recvBackward(StepExpr Of) {
    return message(ActionKind::RecvBackward, Of);
  }
  ScheduleBuilder &sendBackward(StepExpr Of) {
    return message(ActionKind::SendBackward, Of);
  }

  /// Adds the step with the messages before and after it.
  ScheduleBuilder &forwardStep(StepExpr Of) {
    return recvForward(Of).forward(Of).sendForward(Of);
  }
  ScheduleBuilder &backwardStep(StepExpr Of) {
    return recvBackward(Of).backward(Of).sendBackward(Of);
  }
  ScheduleBuilder &backwardInputStep(StepExpr Of) {
    return recvBackward(Of).backwardInput(Of).sendBackward(Of);
  }
  /// Adds a forward and a backward step that overlap, without or with their
  /// messages.
  ScheduleBuilder &overlapped(StepExpr F, StepExpr B) {
    return forward(F).overlapped().backward(B);
  }
  ScheduleBuilder &overlappedStep(StepExpr F, StepExpr B) {
    return recvForward(F)
        .recvBackward(B)
        .overlapped(F, B)
        .sendForward(F)
        .sendBackward(B);
  }

  /// Sets the peer and the tag of a message of \p Kind from the placement. The
  /// peer is the stage with the next or the previous part. For micro-batch b
  /// between the parts n and n + 1, the tag is 2 (m n + b), plus one in the
  /// backward direction.
  void address(Slot &Message);

private:
  IndexExpr variable(IndexVariable V) {
    return {S.Indices, S.Indices.variable(V)};
  }
  ScheduleBuilder &begin(SlotStart How);
  ScheduleBuilder &compute(ActionKind Kind, StepExpr Of);
  ScheduleBuilder &message(ActionKind Kind, StepExpr Of);
  ScheduleBuilder &add(Slot Of);
  IndexExpr part(IndexExpr Chunk);
  IndexExpr neighbour(IndexExpr Chunk, bool IsNext);

  Schedule &S;
  SlotStart Start = SlotStart::After;
  SourceRange Range;
  bool JoinsMessages = false;
};

} // namespace foretrace::ir
