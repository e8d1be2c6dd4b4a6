// SPDX-License-Identifier: Apache-2.0
#include "backends/plan/Rows.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::plan;

PlanRows plan::makeRows(JobFigures &Of, bool HasTimes) {
  const ir::Program &P = *Of.scope();
  PlanRows Out = {partitionOf(P), makeStageTable(Of), {}, {}, nullptr};
  const std::vector<FigureId> Has = stageFiguresOf(P);
  for (const FigureId Id :
       {FigureId::Weights, FigureId::Gradients, FigureId::Optimizer,
        FigureId::Activations, FigureId::Peak})
    if (llvm::is_contained(Has, Id))
      Out.MemoryColumns.push_back(Id);
  if (Out.IsOverflow)
    return Out;
  for (const std::vector<Figure> &Row : Out.Stages.Rows)
    for (const FigureId Id : Out.MemoryColumns)
      Out.IsOverflow |= !Row[Out.Stages.columnOf(getInfo(Id).Name)].isNumber();
  if (const auto Memory = Of.memories().all()) {
    const StagesMemory &Most = mostOf(*Memory);
    Out.Most = {Most.Of.Peak.value(), Most.Stages, Most.Of.Phase};
  } else {
    Out.IsOverflow = true;
  }
  if (HasTimes)
    Out.Times = &Of.iteration();
  return Out;
}
