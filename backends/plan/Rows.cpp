// SPDX-License-Identifier: Apache-2.0
#include "backends/plan/Rows.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::plan;

PlanRows plan::makeRows(JobFigures &Of, bool HasTimes) {
  const ir::Program &P = *Of.scope();
  PlanRows Out = {partitionOf(P), {}, {}, nullptr};
  if (Out.IsOverflow)
    return Out;
  for (const ir::Stage &S : P.Stages) {
    auto &Row = Out.Memory.emplace_back();
    for (const auto &[Size, Id] : llvm::zip_equal(Row, MemoryColumns)) {
      Size = Of.of(Id, S).value();
      Out.IsOverflow |= Size == ir::NoValue;
    }
  }
  if (const auto Memory = Of.memories().all()) {
    const StagesMemory &Most = mostOf(*Memory);
    Out.Most = {Most.Of.Peak.value(), stagesOf(Most), Most.Of.Phase};
  } else {
    Out.IsOverflow = true;
  }
  if (HasTimes)
    Out.Times = &Of.iteration();
  return Out;
}
