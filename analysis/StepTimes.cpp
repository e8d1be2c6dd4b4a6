// SPDX-License-Identifier: Apache-2.0
#include "analysis/StepTimes.h"
#include "ir/model/Boundary.h"
#include "ir/ranks/StepOps.h"

using namespace foretrace;
using namespace foretrace::ir;

StepTimes::StepTimes(const Program &P) : P(P) {
  if (*P.Spec.Cost.Kind == CostKind::Estimate && P.Spec.Cluster)
    Links.emplace(P);
}

static int64_t bounded(Nanoseconds Time) {
  return Time.isOverflow() ? INT64_MAX : Time.value();
}

int64_t StepTimes::ofMessage(int64_t Stage, const Action &A) {
  if (!Links || !isSend(A.Kind))
    return 0;
  const PipelineMessage M = *messageOf(P.Schedule, Stage, A);
  const Bytes Size = boundaryBytes(P, boundaryAfter(P, M.Part, M.IsForward));
  const int64_t Distance = A.Peer - Stage;
  auto [It, IsNew] = Messages.try_emplace({Size.value(), Distance});
  if (IsNew)
    It->second = bounded(Links->timeOfMessage(Size, Distance));
  return It->second;
}

int64_t StepTimes::operator()(int64_t Stage, const Action &A) {
  if (isMessage(A.Kind))
    return ofMessage(Stage, A);
  if (!isCompute(A.Kind))
    return 0;
  const LayerSequence &Layers = stageAt(P.Stages, Stage).layersOf(A.Chunk);
  auto [It, IsNew] = Known.try_emplace({&Layers, A.Kind});
  if (IsNew)
    It->second = bounded(timeOf(P, Layers, A.Kind));
  return It->second;
}
