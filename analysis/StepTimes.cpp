// SPDX-License-Identifier: Apache-2.0
#include "analysis/StepTimes.h"
#include "ir/model/Boundary.h"
#include "ir/ranks/StepOps.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace foretrace;
using namespace foretrace::ir;

StepTimes::StepTimes(const Program &P) : P(P) {
  if (*P.Spec.Cost.Kind == CostKind::Estimate && P.Spec.Cluster)
    Links.emplace(P);
}

static int64_t bounded(Nanoseconds Time) {
  return Time.isOverflow() ? INT64_MAX : Time.value();
}

Nanoseconds StepTimes::ofMessage(Bytes Size, int64_t Distance) {
  if (!Links || Size.isOverflow())
    return Links ? Nanoseconds::overflow() : Nanoseconds();
  auto [It, IsNew] = Messages.try_emplace({Size.value(), Distance});
  if (IsNew)
    It->second = Links->timeOfMessage(Size, Distance);
  return It->second;
}

/// Counts the kernels that a step runs.
static int64_t kernelsOf(const Program &P, const LayerSequence &Layers,
                         ActionKind Step) {
  int64_t Count = 0;
  for (const LayerGroup &G : Layers)
    for (const BlockRun &R : G.Runs) {
      const Block &B = P.Blocks[R.Block];
      int64_t OfBlock = 0;
      for (const auto &[O, Action] : llvm::zip_equal(B.Ops, actionsOf(B)))
        OfBlock += runs(Step, Action) && !isCollective(O.Kind) &&
                   O.Time != Nanoseconds();
      Count += OfBlock * R.Count * G.Periods;
    }
  return Count;
}

Nanoseconds StepTimes::ofStep(const LayerSequence &Layers,
                              ActionKind Step) const {
  const Nanoseconds OfOps = timeOf(P, Layers, Step);
  if (!Links || OfOps.isOverflow() || P.Spec.Train.CudaGraphs.is(true))
    return OfOps;
  const Nanoseconds Launch(
      std::llround(*P.Spec.Cost.kernel(KernelParameterId::Launch) * 1e3));
  const Nanoseconds OfHost = Launch * kernelsOf(P, Layers, Step);
  return OfHost.isOverflow()
             ? OfHost
             : Nanoseconds(std::max(OfOps.value(), OfHost.value()));
}

int64_t StepTimes::operator()(int64_t Stage, const Action &A) {
  if (isSend(A.Kind)) {
    const PipelineMessage M = *messageOf(P.Schedule, Stage, A);
    return bounded(
        ofMessage(boundaryBytes(P, boundaryAfter(P, M.Part, M.IsForward)),
                  A.Peer - Stage));
  }
  if (!isCompute(A.Kind))
    return 0;
  const LayerSequence &Layers = stageAt(P.Stages, Stage).layersOf(A.Chunk);
  auto [It, IsNew] = Known.try_emplace({&Layers, A.Kind});
  if (IsNew)
    It->second = bounded(ofStep(Layers, A.Kind));
  return It->second;
}
