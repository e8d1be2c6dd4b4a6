// SPDX-License-Identifier: Apache-2.0
//
// Derives a node of a Chakra trace. Nodes have the numbers of tasks.
#include "backends/Locate.h"
#include "analysis/TimeDerivation.h"
#include "backends/Backends.h"
#include "backends/chakra/ChakraCollectives.h"
#include "backends/chakra/Micros.h"
#include "backends/ranks/LocateTask.h"
#include "backends/ranks/TaskLimits.h"
#include "ir/model/Measure.h"

using namespace llvm;

namespace foretrace::chakra {

/// Derives the duration of \p O: the rounded sum of all nodes up to this one
/// less that of the nodes before it.
static DerivedFigure durationOf(const ir::Program &P, const ir::Op &O,
                                Nanoseconds Before) {
  TimeMaker Times(P);
  const StringRef What = "duration_micros";
  if (*P.Spec.Cost.Kind == ir::CostKind::Uncosted)
    return {What.str(), 0, "us", Times.derive(O)};
  DerivedOperand Passed, Own;
  Passed.Name = "before";
  Passed.Value = Before.value();
  Passed.Why = Reason::Counted;
  Passed.Counts = "time of the compute nodes before it";
  Own.Name = "time";
  Own.Value = O.Time.value();
  Own.Definition = Times.derive(O);
  Passed.Unit = Own.Unit = "ns";
  return {What.str(), WholeMicros(Before).next(O.Time), "us",
          makeDerivation("floor($0+$1+500,1000)-floor($0+500,1000)",
                         {std::move(Passed), std::move(Own)})};
}

/// Returns the `comm_size` of \p T as an expression of \p P.
static ir::Expr sizeOf(ir::ExprScope P, const ir::Task &T) {
  const ir::Expr Message = messageOf(P, T);
  const bool HasShares = T.Kind == ir::TaskKind::Collective &&
                         findChakraCollective(T.Of->Kind)->HasShares;
  return HasShares ? ceilDiv(Message, sizeOf(P, T.Of->Group)) : Message;
}

/// Derives a node of the trace of a rank: the bytes of a communication node;
/// FLOPs, bytes and time of a compute node.
Expected<Subjects> locate(const EmitRequest &Request, const Options &,
                          const CellQuery &Asked) {
  const ir::Program &Of = Request.Program;
  if (Error E = checkRank(Of, *Asked.Rank))
    return E;
  DiagnosticEngine Diags;
  if (!checkSteps(Request, Diags))
    return errorOf("--emit", Diags);
  Expected<FoundTask> Found = findTask(Of, *Asked.Rank, *Asked.Node);
  if (!Found)
    return Found.takeError();
  const ir::Task &T = Found->Task;
  ir::ExprOverlay P(Of);
  const FigureMaker Make(Of.Spec, P.Sizes);
  Subject S = describeTask("node " + std::to_string(*Asked.Node), T);
  if (T.Kind != ir::TaskKind::Compute) {
    S.Figures.push_back(Make.make("comm_size", ir::ByteExpr(sizeOf(P, T))));
    return Subjects{std::move(S)};
  }
  if (T.Of->Work.Id.isValid())
    S.Figures.push_back(Make.make("work", T.Of->Work));
  S.Figures.push_back(Make.make("touched", T.Of->Touched));
  S.Figures.push_back(durationOf(Of, *T.Of, Found->Before));
  return Subjects{std::move(S)};
}

} // namespace foretrace::chakra
