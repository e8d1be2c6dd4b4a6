// SPDX-License-Identifier: Apache-2.0
#include "backends/plan/Rows.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::plan;

PlanRows plan::makeRows(const ir::Program &Of) {
  PlanRows Out = {partitionOf(Of), {}, {}};
  if (Out.IsOverflow)
    return Out;
  ir::ExprOverlay P(Of);
  JobFigures Figures(P, Validity::ThisJob);
  for (const ir::Stage &S : Of.Stages) {
    auto &Row = Out.Memory.emplace_back();
    for (const auto &[Size, Id] : llvm::zip_equal(Row, MemoryColumns)) {
      Size = Figures.of(Id, S).value();
      Out.IsOverflow |= Size == ir::NoValue;
    }
  }
  if (const auto Memory = memoryOfStages(P)) {
    const StagesMemory &Most = mostOf(*Memory);
    Out.Most = {Most.Of.Peak.value(), stagesOf(Most), Most.Of.Phase};
  } else {
    Out.IsOverflow = true;
  }
  return Out;
}
