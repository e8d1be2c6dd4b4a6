// SPDX-License-Identifier: Apache-2.0
//
// A node of a Chakra trace. Nodes are tasks, by their numbers.
#include "backends/chakra/ChakraCollectives.h"
#include "backends/chakra/Micros.h"
#include "backends/ranks/TaskLimits.h"
#include "ir/model/Measure.h"
#include "tools/explain/Emitted.h"
#include "tools/explain/Explain.h"
#include "tools/explain/Tasks.h"
#include "tools/explain/Times.h"

using namespace llvm;

namespace foretrace::explain {

/// The sum of all nodes up to this one, rounded, but for that before it.
static Figure durationOf(const ir::Program &P, const ir::Op &O,
                         Nanoseconds Before) {
  TimeMaker Times(P);
  const StringRef What = "duration_micros";
  if (*P.Spec.Cost.Kind == ir::CostKind::Uncosted)
    return {What.str(), 0, "us", Times.derive(O)};
  Operand Passed, Own;
  Passed.Name = "before";
  Passed.Value = Before.value();
  Passed.Why = Reason::Counted;
  Passed.Counts = "time of the compute nodes before it";
  Own.Name = "time";
  Own.Value = O.Time.value();
  Own.Definition = Times.derive(O);
  Passed.Unit = Own.Unit = "ns";
  return {What.str(), chakra::WholeMicros(Before).next(O.Time), "us",
          makeDerivation("floor($0+$1+500,1000)-floor($0+500,1000)",
                         {std::move(Passed), std::move(Own)})};
}

/// The `comm_size` of \p T, in terms of \p P.
static ir::Expr sizeOf(ir::ExprScope P, const ir::Task &T) {
  const ir::Expr Message = messageOf(P, T);
  const bool HasShares = T.Kind == ir::TaskKind::Collective &&
                         findChakraCollective(T.Of->Kind)->HasShares;
  return HasShares ? ceilDiv(Message, sizeOf(P, T.Of->Group)) : Message;
}

Expected<Subjects> explainChakraNode(const ir::Program &Of, int64_t Rank,
                                     int64_t Node) {
  if (Error E = checkRank(Of, Rank))
    return E;
  DiagnosticEngine Diags;
  const ir::EmitSpec Plain = ir::EmitSpec::plain("chakra");
  if (!checkSteps({Of, Plain, ""}, Diags))
    return errorOf("--emit", Diags);
  Expected<FoundTask> Found = findTask(Of, Rank, Node);
  if (!Found)
    return Found.takeError();
  const ir::Task &T = Found->Task;
  ir::ExprOverlay P(Of);
  const FigureMaker Make(Of.Spec, P.Sizes);
  Subject S = describeTask("node " + std::to_string(Node), T);
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

} // namespace foretrace::explain
