// SPDX-License-Identifier: Apache-2.0
#include "analysis/Caveats.h"
#include "analysis/DeviceRates.h"
#include "analysis/FlopCounter.h"
#include "analysis/ModelParameters.h"
#include "backends/figures/Figures.h"
#include "lang/diagnostics/Tools.h"
#include "tools/sweep/Report.h"

using namespace llvm;

namespace foretrace::sweep {

static std::string peakKeyOf(const ir::Program &P) {
  return DeviceRates(P, /*Time=*/1).key().str();
}

std::string peakKeyOf(const Sweep &S, CompiledJob &Job) {
  const ir::Program *P = Job.program(factsOfMetrics(S.Space.spec()));
  return P ? peakKeyOf(*P) : "";
}

namespace {

/// A property that a goal assumes to be the same at all points.
struct Premise {
  FigureId Goal;
  StringLiteral What;
  FigureId Better; ///< ranks points that differ in it
  ir::Fact Needs;
  std::string (*Of)(const ir::Program &P);
};

} // namespace

static std::string tokensOf(const ir::Program &P) {
  ir::ExprOverlay Scope(P);
  return toString(tokensOfIteration(Scope).Value);
}

/// FLOPs per token would also differ by the padding of the vocabulary to `tp`.
static std::string parametersOf(const ir::Program &P) {
  return std::to_string(activeParameters(P));
}

static std::string quotedPeakOf(const ir::Program &P) {
  return "`" + peakKeyOf(P) + "`";
}

static constexpr StringLiteral ActiveParameters =
    "the active parameters of the model";
static constexpr Premise Premises[] = {
    {FigureId::Time, "the tokens of an iteration", FigureId::TokensPerSecond,
     ir::Fact::Complete, tokensOf},
    {FigureId::Time, ActiveParameters, FigureId::Mfu, ir::Fact::Totals,
     parametersOf},
    {FigureId::TokensPerSecond, ActiveParameters, FigureId::Mfu,
     ir::Fact::Totals, parametersOf},
    {FigureId::Mfu, "the peak rate of MFU", FigureId::TokensPerSecond,
     ir::Fact::Complete, quotedPeakOf}};

/// Returns how each premise of \p Goal is at a point; nothing for an illegal
/// one.
static std::vector<std::string> premisesAt(Compiler &Session, const Sweep &S,
                                           int64_t Point, StringRef Goal) {
  CompiledJob &Job = replay(Session, S, Point);
  std::vector<std::string> Texts;
  for (const Premise &Of : Premises)
    if (getInfo(Of.Goal).Name == Goal)
      if (const ir::Program *P = Job.program({Of.Needs}))
        Texts.push_back(Of.Of(*P));
  Session.forget(Job);
  return Texts;
}

/// Calls \p IsLast with some of the points that differ from \p Point in one
/// axis alone, until it returns true: the first values and the last one.
static void visitAlong(const Space &Of, size_t Axis, int64_t Point,
                       function_ref<bool(size_t Position, int64_t)> IsLast) {
  constexpr size_t Most = 4;
  const size_t Size = Of.axes()[Axis].size(), Here = Of.indexAt(Point, Axis);
  for (size_t I = 0; I < std::min(Size, Most + 1); ++I) {
    const size_t Position = I == Most ? Size - 1 : I;
    const auto Distance =
        static_cast<int64_t>(Position) - static_cast<int64_t>(Here);
    if (Distance != 0 && IsLast(Position, Point + Distance * Of.stride(Axis)))
      return;
  }
}

/// Reports axes that break a premise of the goal.
static void reportPremises(Compiler &Session, const Sweep &S, int64_t Best,
                           StringRef Goal, DiagnosticEngine &Diags) {
  std::vector<const Premise *> Of;
  for (const Premise &P : Premises)
    if (getInfo(P.Goal).Name == Goal)
      Of.push_back(&P);
  if (Of.empty())
    return;
  const std::vector<std::string> Own = premisesAt(Session, S, Best, Goal);
  for (const auto &[Index, A] : enumerate(S.Space.axes()))
    visitAlong(S.Space, Index, Best, [&, &A = A](size_t, int64_t Other) {
      for (const auto &[P, Is, Here] :
           zip(Of, premisesAt(Session, S, Other, Goal), Own))
        if (Is != Here) {
          Diags.report(A.Keys.front().Range, diag::UnequalGoal,
                       A.Keys.front().Name, P->What, Here, Is, Goal,
                       getInfo(P->Better).Name);
          return true;
        }
      return false;
    });
}

namespace {

/// A point by its goal, and what the estimate of its time leaves out.
struct JudgedPoint {
  std::vector<int64_t> Values; ///< none of a rejected point
  std::vector<Diagnostic> Caveats = {};
};

} // namespace

static JudgedPoint judgeBy(const Chooser &By, Compiler &Session, const Sweep &S,
                           int64_t Point) {
  const PointVerdict V = judge(Session, S, Point);
  JudgedPoint Of;
  if (!V.Metrics.empty()) {
    Of.Values = By.pointOf(Point, [&](size_t Metric) {
                    return V.Metrics[Metric];
                  }).Values;
    DiagnosticEngine Caveats = S.Diags.cloneEmpty();
    reportCaveats(*V.Job.program(factsOfMetrics(S.Space.spec())), Caveats);
    Of.Caveats = Caveats.diagnostics().vec();
  }
  Session.forget(V.Job);
  return Of;
}

/// Returns a caveat that \p A has and \p B lacks; empty if there is none.
static std::string caveatOf(const JudgedPoint &A, const JudgedPoint &B) {
  for (const Diagnostic &D : A.Caveats)
    if (none_of(B.Caveats, [&](const Diagnostic &Other) {
          return Other.Id == D.Id && Other.text() == D.text();
        }))
      return D.text();
  return "";
}

/// Reports axes along which points are as good as the best one although the
/// estimate leaves out something of one of them alone.
static void reportTies(Compiler &Session, const Sweep &S, const Chooser &By,
                       DiagnosticEngine &Diags) {
  const int64_t Best = By.kept().front().Id;
  const JudgedPoint Own = judgeBy(By, Session, S, Best);
  for (const auto &[Index, A] : enumerate(S.Space.axes()))
    visitAlong(S.Space, Index, Best,
               [&, &A = A, Index = Index](size_t Position, int64_t Other) {
                 const JudgedPoint Is = judgeBy(By, Session, S, Other);
                 if (Is.Values != Own.Values)
                   return false;
                 std::string Why = caveatOf(Is, Own);
                 if (Why.empty())
                   Why = caveatOf(Own, Is);
                 const SweepSpec::Key &K = A.Keys.front();
                 if (!Why.empty())
                   Diags.report(K.Range, diag::TieNotModelled, K.Name,
                                K.Values[S.Space.indexAt(Best, Index)],
                                K.Values[Position],
                                By.choice().By.front().Metric, Why);
                 return !Why.empty();
               });
}

void printCaveats(Compiler &Session, const Sweep &S, const Summary &Of,
                  raw_ostream &OS) {
  if (Of.Best.kept().empty() || !readsTime(S.Space.spec()))
    return;
  for (const Diagnostic &D :
       judgeBy(Of.Best, Session, S, Of.Best.kept().front().Id).Caveats)
    OS << "note: " << D.text() << " [" << getDiagnosticInfo(D.Id).Slug << "]\n";
}

void reportGoal(Compiler &Session, const Sweep &S, const Summary &Of,
                DiagnosticEngine &Diags) {
  if (Of.Best.kept().empty())
    return;
  const Chooser::Point &Best = Of.Best.kept().front();
  reportPremises(Session, S, Best.Id, Of.Best.choice().By.front().Metric,
                 Diags);
  if (Best.Equal > 1 && readsTime(S.Space.spec()))
    reportTies(Session, S, Of.Best, Diags);
}

} // namespace foretrace::sweep
