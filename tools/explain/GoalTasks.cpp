// SPDX-License-Identifier: Apache-2.0
//
// The operations of a task in a GOAL schedule: `t7`, `t7_0` and so on are of
// task 7.
#include "backends/goal/Goal.h"
#include "tools/explain/Emitted.h"
#include "tools/explain/Explain.h"
#include "tools/explain/Tasks.h"
#include "tools/explain/Times.h"

using namespace llvm;

namespace foretrace::explain {

Expected<Subjects> explainGoalTask(const ir::Program &Of, int64_t Rank,
                                   int64_t Node) {
  if (Error E = checkRank(Of, Rank))
    return E;
  DiagnosticEngine Diags;
  const ir::EmitSpec Block = firstBlock(Of.Spec, "goal");
  const goal::Options Options = goal::readOptions(Block, Diags);
  if (Diags.hasErrors() || !goal::check({Of, Block, ""}, Options, Diags))
    return errorOf("--emit", Diags);
  Expected<FoundTask> Found = findTask(Of, Rank, Node);
  if (!Found)
    return Found.takeError();
  const ir::Task &T = Found->Task;
  Subject S = describeTask("t" + std::to_string(Node), T);
  ir::ExprOverlay P(Of);
  S.Figures.push_back(
      T.Kind == ir::TaskKind::Compute
          ? Figure{"calc", T.Of->Time.value(), "ns",
                   TimeMaker(Of).derive(*T.Of)}
          : FigureMaker(Of.Spec, P.Sizes)
                .make(T.Kind == ir::TaskKind::Collective
                          ? "message, of which operations move parts"
                          : "message",
                      ir::ByteExpr(messageOf(P, T))));
  return Subjects{std::move(S)};
}

} // namespace foretrace::explain
