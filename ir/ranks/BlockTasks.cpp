// SPDX-License-Identifier: Apache-2.0
#include "ir/ranks/BlockTasks.h"
#include "ir/model/OpKinds.h"
#include "ir/model/Shares.h"
#include "ir/ranks/StepOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

BlockTasks::BlockTasks(const Program &P, const Block &B)
    : B(B), Actions(actionsOf(B)) {
  number(P);
  trace();
}

bool foretrace::ir::gathersEach(const Program &P, const Op &O) {
  const ParallelSpec &Par = P.Spec.Parallel;
  return O.Kind == OpKind::AllGather && O.Phase == Phase::Step &&
         *Par.Zero == 3 && isDeepSpeed(Par) && P.Mesh[Axis::Pp] == 1;
}

/// Returns how many tasks an op has; 0 for views and if nothing is sent.
static int64_t widthOf(const Program &P, const Op &O) {
  if (!isCollective(O.Kind))
    return isView(O.Kind) ? 0 : 1;
  const int64_t Ranks = O.Group.size(P.Mesh);
  if (Ranks == 1 || messageBytes(P, O) == Bytes())
    return 0;
  if (gathersEach(P, O))
    return static_cast<int64_t>(wholeShares(P).size());
  return O.Kind == OpKind::Ring ? 2 * (Ranks - 1) : messageCount(O);
}

bool foretrace::ir::isRead(const Block &B, const Op &O) {
  return O.Kind == OpKind::Broadcast && O.Phase == Phase::Forward &&
         B.Values[O.Operands.front()].Kind == ValueKind::Input &&
         !llvm::is_contained(B.Signature.Inputs, O.Operands.front());
}

bool foretrace::ir::readsForEachChunk(const Program &P) {
  const ParallelSpec &Par = P.Spec.Parallel;
  return *Par.Schedule == ScheduleKind::Interleaved &&
         (isOfMegatron(Par) || isMegatronFsdp(Par)) &&
         *Par.Megatron >= MegatronVersion::V0_13 &&
         *Par.Megatron <= MegatronVersion::V0_14;
}

bool foretrace::ir::gathersByUnit(const Program &P) {
  const ParallelSpec &Par = P.Spec.Parallel;
  const bool HasUnits = isDeepSpeed(Par) || isMegatronFsdp(Par);
  return hasTorchUnits(P) ||
         (HasUnits && *Par.Zero >= 2 && P.Mesh[Axis::Pp] == 1);
}

static UnitPart partOf(const Block &B, const Op &O) {
  if (!isCollective(O.Kind))
    return UnitPart::None;
  const Value &V = B.Values[O.Operands.front()];
  if (O.Kind == OpKind::AllGather && V.Kind == ValueKind::Param)
    return O.Phase == Phase::Forward ? UnitPart::Gather : UnitPart::GatherAgain;
  if (V.Kind != ValueKind::Gradient || !V.GradientOf.isValid() ||
      B.Values[V.GradientOf].Kind != ValueKind::Param)
    return UnitPart::None;
  auto IsOver = [&](Axis A) { return llvm::is_contained(O.Group.Axes, A); };
  if (IsOver(Axis::DpReplicate))
    return UnitPart::Sum;
  return IsOver(Axis::Cp) || IsOver(Axis::Dp) || IsOver(Axis::Edp)
             ? UnitPart::Reduce
             : UnitPart::None;
}

void BlockTasks::number(const Program &P) {
  bool HasRest = false, IsMixed = false; // of ops of the backward pass
  for (size_t N = 0; N < B.Ops.size(); ++N) {
    const OpId I = B.Ops.idAt(N);
    const ActionKind Action = Actions[I];
    const int64_t Width = widthOf(P, B.Ops[I]);
    Widths.add(Width);
    Firsts.add(Counts);
    Parts.add(gathersByUnit(P) && Width != 0 ? partOf(B, B.Ops[I])
                                             : UnitPart::None);
    if (Parts[I] != UnitPart::None)
      continue;
    if (Width != 0 && isRead(B, B.Ops[I])) {
      Reads.push_back(I);
      continue;
    }
    const bool IsAgain = B.Ops[I].Phase == Phase::Recompute && Width != 0;
    IsMixed |= IsAgain && HasRest;
    HasRest |= B.Ops[I].Phase == Phase::Backward && Width != 0;
    for (const ActionKind Step : {Action, ActionKind::Backward})
      if (Step == Action || runs(Step, Action)) {
        Counts[index(Step)] += Width;
        CountsAgain[index(Step)] += IsAgain ? Width : 0;
      }
  }
  if (IsMixed)
    CountsAgain = {};
  Counts[index(ActionKind::Forward)] += static_cast<int64_t>(Reads.size());
}

/// Sources of every value, in order of ops: what an op without a task makes
/// comes from where its operands do.
void BlockTasks::trace() {
  for (size_t V = 0; V < B.Values.size(); ++V)
    Sources.add({});
  auto Start = [&](const Signature::List &Values, TaskSource::Kind From) {
    for (const auto &[Place, V] : llvm::enumerate(Values))
      Sources[V] = {{From, static_cast<unsigned>(Place)}};
  };
  Start(B.Signature.Inputs, TaskSource::Kind::Input);
  Start(B.Signature.OutputGradients, TaskSource::Kind::OutputGradient);
  for (size_t N = 0; N < B.Ops.size(); ++N) {
    const OpId I = B.Ops.idAt(N);
    TaskSources Of;
    if (Widths[I] != 0)
      Of = {{TaskSource::Kind::Op, I.Index}};
    else
      for (ValueId V : B.Ops[I].Operands)
        Of.append(Sources[V].begin(), Sources[V].end());
    for (ValueId V : B.Ops[I].Results)
      Sources[V] = Of;
  }
}
