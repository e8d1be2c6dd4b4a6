// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/JobChanges.h"
#include "analysis/Figures.h"
#include "passes/vary/Fit.h"
#include "passes/vary/Moves.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace llvm;

namespace foretrace::driver {

namespace {

/// Compiles changes of one job.
class Trial {
public:
  Trial(const CompiledJob &Job, ir::FactSet Needs) : Job(Job), Needs(Needs) {
    for (const Diagnostic &D : Job.diagnostics())
      Told.insert(D.Id);
  }

  /// Returns what \p Measure finds in the changed job; nothing if something is
  /// wrong with it that is not said of the job anyway.
  template <typename MeasureT>
  auto operator()(function_ref<void(ir::Spec &)> Change,
                  MeasureT Measure) const {
    const std::unique_ptr<CompiledJob> Varied = Job.attempt([&](ir::Spec &S) {
      Change(S);
      return true;
    });
    const ir::Program *Result = Varied->program(Needs);
    const bool IsGood =
        Result && none_of(Varied->diagnostics(), [&](const Diagnostic &D) {
          return Told.count(D.Id) == 0;
        });
    return IsGood ? Measure(*Result) : std::nullopt;
  }

private:
  const CompiledJob &Job;
  const ir::FactSet Needs;
  std::set<diag::Id> Told;
};

struct TimedJob {
  int64_t Time, Peak;
};

} // namespace

FigureTable listFittingChanges(const CompiledJob &Job, const ir::Program &P,
                               int64_t Room) {
  const Trial Try(Job, {ir::Fact::Scheduled, ir::Fact::Totalled});
  const vary::Load Now = vary::loadOf(P);
  const std::vector<vary::Proposal> Found =
      vary::changesThatFit(*Job.spec(), P.Spec, Now, Room,
                           [&](function_ref<void(ir::Spec &)> Change) {
                             return Try(Change, [](const ir::Program &Of) {
                               return std::optional(vary::loadOf(Of));
                             });
                           });
  FigureTable T{"changes",
                Found.empty()
                    ? "None of the changes and pairs of changes tried makes "
                      "the job fit (worst rank)"
                    : "Changes that would make the job fit (worst rank)",
                {{"change", FigureUnit::Text},
                 {"peak", FigureUnit::Bytes},
                 {"flops", FigureUnit::Flops},
                 {"messages", FigureUnit::Bytes}},
                {}};
  auto Add = [&](std::string Keys, const vary::Load &L) {
    T.Rows.push_back({std::move(Keys), L.peak(), L.Work, L.Messages});
  };
  Add("none", Now);
  for (const vary::Proposal &F : Found)
    Add(F.Keys, F.Of);
  return T;
}

static std::string textOf(const vary::Change &C) {
  std::string Text;
  for (const vary::KeyText &K : C.Keys)
    Text += (Text.empty() ? "" : ", ") + (K.Key + " = " + K.Value).str();
  return Text;
}

/// Nothing if a number is beyond 2^63.
static std::optional<TimedJob> measureTime(const ir::Program &Of) {
  ir::ExprOverlay P(Of);
  JobFigures Figures(P, Validity::ThisJob);
  const Nanoseconds Time = Figures.iteration().Total;
  const std::optional<ir::Expr> Peak = Figures.of(FigureId::Peak);
  if (Time.isOverflow() || !Peak || !Peak->hasValue())
    return std::nullopt;
  return TimedJob{Time.value(), Peak->value()};
}

FigureTable listFasterChanges(const CompiledJob &Job, const ir::Program &P) {
  FigureTable T{"changes",
                "Changes of one key that make it shorter",
                {{"change", FigureUnit::Text},
                 {"time", FigureUnit::Time},
                 {"saved", FigureUnit::Millionths},
                 {"peak", FigureUnit::Bytes}},
                {}};
  const std::optional<TimedJob> Now = measureTime(P);
  if (!Now)
    return T;
  int64_t Room = INT64_MAX;
  if (const Located<int64_t> &Memory = P.Spec.Cluster->Device.Memory;
      Memory.isPresent() && Now->Peak <= *Memory)
    Room = *Memory;
  const Trial Try(Job,
                  {ir::Fact::Scheduled, ir::Fact::Totalled, ir::Fact::Costs});
  std::vector<std::pair<std::string, TimedJob>> Found;
  for (const vary::Change &C : vary::changesOfTime(*Job.spec(), P.Spec)) {
    const std::optional<TimedJob> Of = Try(C.Apply, measureTime);
    if (Of && Of->Time < Now->Time && Of->Peak <= Room)
      Found.emplace_back(textOf(C), *Of);
  }
  stable_sort(Found, [](const auto &A, const auto &B) {
    return A.second.Time < B.second.Time;
  });
  if (Found.empty())
    Found.emplace_back("none", *Now);
  for (const auto &[Keys, Of] : Found)
    T.Rows.push_back(
        {Keys, Of.Time, millionths(Now->Time - Of.Time, Now->Time), Of.Peak});
  return T;
}

} // namespace foretrace::driver
