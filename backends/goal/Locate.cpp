// SPDX-License-Identifier: Apache-2.0
//
// Derives a task of a GOAL schedule. Its operations are `t7`, `t7_0` and so on,
// for task 7.
#include "backends/Locate.h"
#include "analysis/TimeDerivation.h"
#include "backends/Backends.h"
#include "backends/ranks/LocateTask.h"

using namespace llvm;

namespace foretrace::goal {

/// Derives a task of a rank: the message that its operations move, or the time
/// of its computation.
Expected<Subjects> locate(const EmitRequest &Request, const Options &O,
                          const CellQuery &Asked) {
  const ir::Program &Of = Request.Program;
  if (Error E = checkRank(Of, *Asked.Rank))
    return E;
  DiagnosticEngine Diags;
  if (!check(Request, O, Diags))
    return errorOf("--emit", Diags);
  Expected<FoundTask> Found = findTask(Of, *Asked.Rank, *Asked.Node);
  if (!Found)
    return Found.takeError();
  const ir::Task &T = Found->Task;
  Subject S = describeTask("t" + std::to_string(*Asked.Node), T);
  ir::ExprOverlay P(Of);
  S.Figures.push_back(
      T.Kind == ir::TaskKind::Compute
          ? DerivedFigure{"calc", T.Of->Time.value(), "ns",
                          TimeMaker(Of).derive(*T.Of)}
          : FigureMaker(Of.Spec, P.Sizes)
                .make(T.Kind == ir::TaskKind::Collective
                          ? "message, of which operations move parts"
                          : "message",
                      ir::ByteExpr(messageOf(P, T))));
  return Subjects{std::move(S)};
}

} // namespace foretrace::goal
