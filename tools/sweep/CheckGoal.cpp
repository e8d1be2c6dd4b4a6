// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/CheckGoal.h"
#include "analysis/DeviceRates.h"
#include "analysis/FlopCounter.h"
#include "backends/figures/Figures.h"
#include "lang/diagnostics/Tools.h"

using namespace llvm;

namespace foretrace::sweep {

std::string peakKeyOf(const Sweep &S, CompiledJob &Job) {
  const ir::Program *P = Job.program(factsOfMetrics(S.Space.spec()));
  return P ? DeviceRates(*P, /*Time=*/1).key().str() : "";
}

/// Returns what all points must have in common; empty for an illegal one.
static std::string measureOf(Compiler &Session, const Sweep &S, int64_t Point,
                             bool IsOfTime) {
  CompiledJob &Job = replay(Session, S, Point);
  std::string Text;
  if (const ir::Program *P = Job.program(factsOfMetrics(S.Space.spec()))) {
    ir::ExprOverlay Scope(*P);
    Text = IsOfTime ? toString(FlopCounter(Scope, {}).tokensOfIteration().Value)
                    : "`" + peakKeyOf(S, Job) + "`";
  }
  Session.forget(Job);
  return Text;
}

/// The first values of an axis and the last one.
static std::vector<size_t> someOf(const SweepSpec::Axis &A) {
  constexpr size_t Most = 4;
  std::vector<size_t> Some;
  for (size_t I = 0; I < std::min(Most, A.size()); ++I)
    Some.push_back(I);
  if (A.size() > Most)
    Some.push_back(A.size() - 1);
  return Some;
}

void reportGoal(Compiler &Session, const Sweep &S, const Summary &Of,
                DiagnosticEngine &Diags) {
  if (Of.Best.kept().empty())
    return;
  const std::string &Goal = Of.Best.choice().By.front().Metric;
  const bool IsOfTime = Goal == getInfo(FigureId::Time).Name;
  if (!IsOfTime && Goal != getInfo(FigureId::Mfu).Name)
    return;
  const int64_t Best = Of.Best.kept().front().Id;
  const std::string Own = measureOf(Session, S, Best, IsOfTime);
  for (const auto &[Index, A] : enumerate(S.Space.axes()))
    for (const size_t Position : someOf(A)) {
      const auto Here = static_cast<int64_t>(S.Space.indexAt(Best, Index));
      const std::string Other =
          measureOf(Session, S,
                    Best + (static_cast<int64_t>(Position) - Here) *
                               S.Space.stride(Index),
                    IsOfTime);
      if (Other.empty() || Other == Own)
        continue;
      Diags.report(A.Keys.front().Range, diag::UnequalGoal, A.Keys.front().Name,
                   IsOfTime ? "the tokens of an iteration"
                            : "the peak rate of MFU",
                   Own, Other, Goal);
      break;
    }
}

} // namespace foretrace::sweep
