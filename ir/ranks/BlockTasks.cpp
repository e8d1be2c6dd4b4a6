// SPDX-License-Identifier: Apache-2.0
#include "ir/ranks/BlockTasks.h"
#include "ir/model/OpKinds.h"
#include "ir/ranks/StepOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

BlockTasks::BlockTasks(const Program &P, const Block &B)
    : B(B), Actions(actionsOf(B)) {
  number(P);
  trace();
}

static int64_t widthOf(const Op &O, const Mesh &M) {
  if (!isCollective(O.Kind))
    return isView(O.Kind) ? 0 : 1;
  const int64_t Ranks = O.Group.size(M);
  if (Ranks == 1)
    return 0;
  return O.Kind == OpKind::Ring ? 2 * (Ranks - 1) : 1;
}

/// Whether \p O copies what one rank has read.
static bool isRead(const Block &B, const Op &O) {
  return O.Kind == OpKind::Broadcast && O.Phase == Phase::Forward &&
         B.Values[O.Operands.front()].Kind == ValueKind::Input &&
         !llvm::is_contained(B.Signature.Inputs, O.Operands.front());
}

bool foretrace::ir::isOutsideLayers(const Program &P, const Block &B) {
  return &P.Blocks[P.Layers.front().Runs.front().Block] == &B ||
         &P.Blocks[P.Layers.back().Runs.back().Block] == &B;
}

bool foretrace::ir::gathersByUnit(const Program &P) {
  const ParallelSpec &Par = P.Spec.Parallel;
  return Par.DpFramework.is(DpFrameworkKind::Torch) && *Par.Zero == 3 &&
         *Par.Pp == 1;
}

static UnitPart partOf(const Block &B, const Op &O) {
  if (!isCollective(O.Kind))
    return UnitPart::None;
  const Value &V = B.Values[O.Operands.front()];
  if (O.Kind == OpKind::AllGather && V.Kind == ValueKind::Param)
    return O.Phase == Phase::Forward ? UnitPart::Gather : UnitPart::GatherAgain;
  if (V.Kind != ValueKind::Gradient ||
      B.Values[V.GradientOf].Kind != ValueKind::Param)
    return UnitPart::None;
  if (O.Kind == OpKind::ReduceScatter)
    return UnitPart::Reduce;
  return llvm::is_contained(O.Group.Axes, Axis::DpReplicate) ? UnitPart::Sum
                                                             : UnitPart::None;
}

void BlockTasks::number(const Program &P) {
  for (size_t N = 0; N < B.Ops.size(); ++N) {
    const OpId I = B.Ops.idAt(N);
    const ActionKind Action = Actions[I];
    const int64_t Width = widthOf(B.Ops[I], P.Mesh);
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
    Counts[index(Action)] += Width;
    if (runs(ActionKind::Backward, Action))
      Counts[index(ActionKind::Backward)] += Width;
  }
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
