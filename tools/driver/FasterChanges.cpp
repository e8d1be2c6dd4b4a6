// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/FasterChanges.h"
#include "analysis/Figures.h"
#include "passes/vary/Moves.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace llvm;

namespace foretrace::driver {

namespace {

struct TimedJob {
  std::string Keys;
  int64_t Time, Peak;
};

} // namespace

static std::string textOf(const vary::Change &C) {
  std::string Text;
  for (const vary::KeyText &K : C.Keys)
    Text += (Text.empty() ? "" : ", ") + (K.Key + " = " + K.Value).str();
  return Text;
}

/// Nothing if a number is beyond 2^63.
static std::optional<TimedJob> timeOf(const ir::Program &Of, std::string Keys) {
  ir::ExprOverlay P(Of);
  JobFigures Figures(P, Validity::ThisJob);
  const Nanoseconds Time = Figures.iteration().Total;
  const std::optional<ir::Expr> Peak = Figures.of(FigureId::Peak);
  if (Time.isOverflow() || !Peak || !Peak->hasValue())
    return std::nullopt;
  return TimedJob{std::move(Keys), Time.value(), Peak->value()};
}

FigureTable listFasterChanges(const CompiledJob &Job, const ir::Program &P) {
  FigureTable T{"changes",
                "Changes of one key that make it shorter",
                {{"change", FigureUnit::Text},
                 {"time", FigureUnit::Time},
                 {"saved", FigureUnit::Millionths},
                 {"peak", FigureUnit::Bytes}},
                {}};
  const std::optional<TimedJob> Now = timeOf(P, "none");
  if (!Now)
    return T;
  std::set<diag::Id> Told; // what is said of the job anyway
  for (const Diagnostic &D : Job.diagnostics())
    Told.insert(D.Id);
  int64_t Room = INT64_MAX;
  if (const Located<int64_t> &Memory = P.Spec.Cluster->Device.Memory;
      Memory.isPresent() && Now->Peak <= *Memory)
    Room = *Memory;
  std::vector<TimedJob> Found;
  for (const vary::Change &C : vary::changesOfTime(*Job.spec(), P.Spec)) {
    const std::unique_ptr<CompiledJob> Varied = Job.attempt([&](ir::Spec &S) {
      C.Apply(S);
      return true;
    });
    const ir::Program *Result = Varied->program(
        {ir::Fact::Scheduled, ir::Fact::Totalled, ir::Fact::Costs});
    if (!Result || any_of(Varied->diagnostics(), [&](const Diagnostic &D) {
          return Told.count(D.Id) == 0;
        }))
      continue;
    const std::optional<TimedJob> Of = timeOf(*Result, textOf(C));
    if (Of && Of->Time < Now->Time && Of->Peak <= Room)
      Found.push_back(*Of);
  }
  stable_sort(Found, [](const TimedJob &A, const TimedJob &B) {
    return A.Time < B.Time;
  });
  constexpr int64_t Whole = 1000000;
  for (const TimedJob &Of : Found)
    T.Rows.push_back(
        {Of.Keys, Of.Time,
         static_cast<__int128>(Now->Time - Of.Time) * Whole / Now->Time,
         Of.Peak});
  if (Found.empty())
    T.Rows.push_back({std::string("none"), Now->Time, int64_t(0), Now->Peak});
  return T;
}

} // namespace foretrace::driver
