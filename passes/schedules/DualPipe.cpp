// SPDX-License-Identifier: Apache-2.0
//
// DualPipe and DualPipeV of DeepSeek (arXiv 2412.19437, section 3.2.1;
// dualpipe.py and dualpipev.py of deepseek-ai/DualPipe). A stage has a near and
// a far chunk: the far one is at the other end of the model. Forward steps of
// one overlap backward steps of the other. Before each step, everything sent
// and received since the step before is one call.
#include "passes/schedules/Schedules.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// How the pairs of chunks lie, and what makes DualPipe of DualPipeV.
struct Shape {
  IndexExpr Depth;             ///< pairs of chunks that lie within each other
  IndexExpr Row;               ///< which of them a stage has, from outside
  IndexExpr Batches;           ///< micro-batches of a chunk
  int64_t Near;                ///< the chunk with the outer end of the model
  IndexExpr NearBase, FarBase; ///< first micro-batches of the two
  bool IsInnermost;
  /// Whether innermost stages send from the near chunk before the far one runs;
  /// with DualPipeV it is their own.
  bool SendsInside;
};

class DualPipe {
public:
  DualPipe(ScheduleBuilder &B, Shape Of)
      : B(B), Of(Of), I(B.i()), Inner(Of.Depth - Of.Row - 1), Own(Of.Row + 1),
        Main(Of.Batches - 2 * Of.Depth + Own), Rest(Main + Inner) {}

  void write();

private:
  StepExpr near(IndexExpr K) const {
    return {Of.NearBase + K, B.number(Of.Near)};
  }
  StepExpr far(IndexExpr K) const {
    return {Of.FarBase + K, B.number(1 - Of.Near)};
  }
  StepExpr postponed(IndexExpr K) const;
  void fill();
  void turn();
  void mainStep(IndexExpr K, bool HasReceived);
  void innermostStep();
  void steady();
  void drain();
  void weights();

  ScheduleBuilder &B;
  const Shape Of;
  const IndexExpr I;
  const IndexExpr Inner; ///< pairs further inside
  const IndexExpr Own;   ///< this pair and those further outside
  const IndexExpr Main;  ///< steps that overlap both ways
  const IndexExpr Rest;  ///< backward steps of the near chunk until then, and
                         ///< while those of the far chunk run on
};

} // namespace

/// Steps 1 and 2: near ones, then both in turn. What the near chunk needs next
/// is received before the far one runs.
void DualPipe::fill() {
  const IndexExpr Ahead = 2 * Inner;
  B.loop(SchedulePhase::Warmup, Ahead).forwardStep(near(I));
  B.once(SchedulePhase::Warmup).recvForward(near(Ahead));
  auto Turn = [&](IndexExpr K, bool SendsFar) {
    B.forward(near(Ahead + K));
    if (Of.IsInnermost && Of.SendsInside)
      B.sendForward(near(Ahead + K));
    B.recvForward(near(Ahead + K + 1)).recvForward(far(K)).forward(far(K));
    if (SendsFar)
      B.sendForward(far(K));
    if (!Of.IsInnermost || !Of.SendsInside)
      B.sendForward(near(Ahead + K));
  };
  if (!Of.IsInnermost) {
    B.loop(SchedulePhase::Warmup, Own);
    Turn(I, /*SendsFar=*/true);
    return;
  }
  B.loop(SchedulePhase::Warmup, Own - 1);
  Turn(I, /*SendsFar=*/true);
  B.once(SchedulePhase::Warmup);
  Turn(Own - 1, /*SendsFar=*/false); // innermostStep does
}

/// Step 3: gradients of inputs, and of parameters in the bubble.
void DualPipe::turn() {
  B.loop(SchedulePhase::Warmup, Inner)
      .backwardInputStep(far(I))
      .recvForward(far(Own + I))
      .backwardWeight(far(I))
      .forward(far(Own + I))
      .sendForward(far(Own + I));
}

/// The \p K-th step that overlaps both ways.
void DualPipe::mainStep(IndexExpr K, bool HasReceived) {
  const StepExpr Forward = near(Of.Depth + Inner + K);
  const StepExpr Backward = far(Inner + K);
  if (!HasReceived)
    B.recvForward(Forward);
  B.recvBackward(Backward)
      .overlapped(Forward, Backward)
      .sendForward(Forward)
      .sendBackward(Backward);
  B.overlappedStep(far(Of.Depth + K), near(K));
}

/// The first one of innermost stages does not overlap in the first direction,
/// which makes the bubble smaller.
void DualPipe::innermostStep() {
  const StepExpr Forward = near(Of.Depth), Backward = far(B.number(0));
  B.forward(Forward)
      .sendForward(far(Own - 1))
      .recvBackward(Backward)
      .backward(Backward)
      .sendForward(Forward)
      .sendBackward(Backward);
  B.overlappedStep(far(Of.Depth), near(B.number(0)));
}

/// Steps 4 and 5.
void DualPipe::steady() {
  B.once(SchedulePhase::Steady);
  if (Of.IsInnermost)
    innermostStep();
  else
    mainStep(B.number(0), /*HasReceived=*/true);
  B.loop(SchedulePhase::Steady, Main - 1);
  mainStep(I + 1, /*HasReceived=*/false);
  B.loop(SchedulePhase::Steady, Inner)
      .backwardStep(far(Inner + Main + I))
      .overlappedStep(far(Of.Depth + Main + I), near(Main + I));
}

/// Step 6: backward steps in turn, gradients of parameters of the second half
/// postponed.
void DualPipe::drain() {
  const IndexExpr Half = Own / 2;
  const IndexExpr Far = Inner + Rest;
  B.loop(SchedulePhase::Cooldown, Half)
      .backwardStep(far(Far + I))
      .backwardStep(near(Rest + I));
  B.loop(SchedulePhase::Cooldown, Own % 2)
      .backwardStep(far(Far + Half))
      .backwardInputStep(near(Rest + Half));
  const IndexExpr Second = Own - Half + I;
  B.loop(SchedulePhase::Cooldown, Half)
      .backwardInputStep(far(Far + Second))
      .backwardInputStep(near(Rest + Second));
}

/// Which step's gradients of parameters were postponed \p K-th in step 6: near
/// and far ones in turn, near ones last.
StepExpr DualPipe::postponed(IndexExpr K) const {
  const IndexExpr Half = Own / 2;
  const IndexExpr IsFar = (K + Own + 1) % 2;
  const IndexExpr Chunk = Of.Near == 0 ? IsFar : 1 - IsFar;
  const IndexExpr First = Of.NearBase + Rest + Half +
                          IsFar * (Of.FarBase - Of.NearBase + Inner + Own % 2);
  return {First + K / 2, Chunk};
}

/// Steps 7 and 8: postponed gradients of parameters, oldest first, those of
/// step 7 itself at last.
void DualPipe::weights() {
  const IndexExpr Both = min(Inner, Own);
  const IndexExpr Late = Rest + Own;
  B.loop(SchedulePhase::Cooldown, Both)
      .backwardWeight(postponed(I))
      .backwardInputStep(near(Late + I));
  B.loop(SchedulePhase::Cooldown, Inner - Own)
      .backwardWeight(near(Late + I))
      .backwardInputStep(near(Late + Own + I));
  B.loop(SchedulePhase::Cooldown, Own - Inner)
      .backwardWeight(postponed(Inner + I));
  B.loop(SchedulePhase::Cooldown, Both)
      .backwardWeight(near(Late + max(Inner - Own, 0) + I));
}

void DualPipe::write() {
  B.joinMessages();
  fill();
  turn();
  steady();
  drain();
  weights();
  B.finalize();
}

/// Both ways at once: each stage has the parts that are equally far from the
/// two ends. The second half of the micro-batches goes up.
void foretrace::buildDualPipe(ScheduleBuilder &B, const ParallelSpec &) {
  const int64_t Last = B.schedule().Stages - 1;
  const int64_t Half = B.schedule().Stages / 2;
  for (int64_t End : {Half - 2, Half - 1, Half, Last}) {
    if (!B.program(End))
      continue;
    const bool IsUpper = End < Half;
    const IndexExpr None = B.number(0), Batches = B.m() / 2;
    DualPipe(B, {B.p() / 2, IsUpper ? B.s() : B.p() - 1 - B.s(), Batches,
                 IsUpper ? 0 : 1, IsUpper ? None : Batches,
                 IsUpper ? Batches : None, End == Half - 1 || End == Half,
                 /*SendsInside=*/true})
        .write();
  }
}

/// DualPipe cut in half: a stage has a part on the way down and one on the way
/// up.
void foretrace::buildDualPipeV(ScheduleBuilder &B, const ParallelSpec &) {
  const int64_t Last = B.schedule().Stages - 1;
  for (int64_t End : {Last - 1, Last})
    if (B.program(End))
      DualPipe(B, {B.p(), B.s(), B.m(), 0, B.number(0), B.number(0),
                   End == Last, /*SendsInside=*/false})
          .write();
}
