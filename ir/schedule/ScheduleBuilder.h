// SPDX-License-Identifier: Apache-2.0
//
// Writes the programs of a schedule, slot by slot:
//
//   ScheduleBuilder B(S);
//   const IndexExpr I = B.i(), Ahead = min(B.p() - B.s() - 1, B.m());
//   B.program();
//   B.loop(SchedulePhase::Warmup, Ahead).recvForward(I).forward(I);
#ifndef FORETRACE_IR_SCHEDULE_SCHEDULEBUILDER_H
#define FORETRACE_IR_SCHEDULE_SCHEDULEBUILDER_H

#include "ir/model/Schedule.h"

namespace foretrace::ir {

/// A closed form that is being written; an id with the operators of the table
/// that it is of, which must outlive it.
class IndexExpr {
public:
  IndexExpr(IndexTable &T, IndexId Id) : T(&T), Id(Id) {}
  operator IndexId() const { return Id; }
  /// The number it is for every stage and index, if it is one.
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

/// A micro-batch's way through a chunk.
struct StepExpr {
  IndexExpr MicroBatch, Chunk;
};

/// Slots are appended to the loop that was begun last, loops to the program.
/// Peers and tags of messages follow from the placement.
class ScheduleBuilder {
public:
  /// \p S has its sizes and placement, and no programs yet.
  explicit ScheduleBuilder(Schedule &S) : S(S) {}

  const Schedule &schedule() const { return S; }
  IndexExpr number(int64_t N) { return {S.Indices, S.Indices.constant(N)}; }
  IndexExpr i() { return variable(IndexVariable::I); }
  IndexExpr s() { return variable(IndexVariable::S); }
  IndexExpr p() { return variable(IndexVariable::P); }
  IndexExpr v() { return variable(IndexVariable::V); }
  IndexExpr m() { return variable(IndexVariable::M); }
  IndexExpr g() { return variable(IndexVariable::G); }
  /// \p E with a name to be printed by, unless it has one or needs none.
  IndexExpr named(llvm::StringRef Name, IndexExpr E);
  /// Of the only chunk of a stage.
  StepExpr step(IndexExpr MicroBatch) { return {MicroBatch, number(0)}; }

  /// Begins the program of the stages from the one after the last program's to
  /// \p Last; none if that is before.
  bool program(int64_t Last);
  /// The same for all stages.
  void program() { program(S.Stages - 1); }
  ScheduleBuilder &loop(SchedulePhase Phase, IndexExpr Count);
  ScheduleBuilder &once(SchedulePhase Phase) { return loop(Phase, number(1)); }
  /// What every program ends with.
  void finalize();

  /// The next slot begins with, or overlaps, the one before it.
  ScheduleBuilder &with() { return begin(SlotStart::With); }
  ScheduleBuilder &overlapped() { return begin(SlotStart::Overlapped); }
  /// From here on slots are written at \p R.
  void at(SourceRange R) { Range = R; }
  /// From here on messages that follow one another are one call.
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

  /// With the messages before and after it.
  ScheduleBuilder &forwardStep(StepExpr Of) {
    return recvForward(Of).forward(Of).sendForward(Of);
  }
  ScheduleBuilder &backwardStep(StepExpr Of) {
    return recvBackward(Of).backward(Of).sendBackward(Of);
  }
  ScheduleBuilder &backwardInputStep(StepExpr Of) {
    return recvBackward(Of).backwardInput(Of).sendBackward(Of);
  }
  /// Forward and backward that overlap; and the same with their messages.
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

  /// Gives a message of \p Kind the peer and the tag that follow from the
  /// placement: the stage with the next or the last part; 2 (m n + b), and one
  /// more backward, for micro-batch b between the parts n and n + 1.
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

#endif
