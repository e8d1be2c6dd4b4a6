// SPDX-License-Identifier: Apache-2.0
#include "tools/start/LayoutSearch.h"
#include "analysis/Caveats.h"
#include "analysis/DeviceMemory.h"
#include "analysis/Figures.h"
#include "tools/compiler/Compiler.h"
#include "tools/start/LayoutSweep.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace llvm;

namespace foretrace::start {

namespace {

class Search {
public:
  Search(const OpenJob &Job, const LayoutAxes &Axes, StringRef Where,
         StringRef Metric)
      : Of{Job, Axes, Where.str(), Metric.str()} {}

  Expected<LayoutRanking> run();
  std::vector<FoundLayout> runAround(const FoundLayout &Start);

private:
  void climb(size_t MaxRounds, size_t Seeds, size_t Followed);
  std::vector<Region> coarse() const;
  void evaluate(ArrayRef<Region> All, bool IsFirst = false);

  const LayoutSweep Of;
  LayoutRanking Found;
  std::set<std::vector<std::string>> Known; ///< layouts in Found
};

} // namespace

/// Adds what is found in regions.
void Search::evaluate(ArrayRef<Region> All, bool IsFirst) {
  for (RegionResult &R : Of.runAll(All)) {
    if (IsFirst) { // later regions have some layouts again
      Found.Accepted += R.Accepted;
      Found.Legal += R.Legal;
    }
    for (FoundLayout &L : R.Best)
      if (Known.insert(L.Overrides).second)
        Found.Best.push_back(std::move(L));
  }
  stable_sort(Found.Best, [](const FoundLayout &A, const FoundLayout &B) {
    return A.Goal < B.Goal;
  });
}

/// All combinations of options that are not for refinement, with all numbers.
std::vector<Region> Search::coarse() const {
  std::vector<Region> All(1);
  for (const std::vector<LayoutAxes::Option> &Choice : Of.Axes.Choices) {
    std::vector<Region> Longer;
    for (const Region &R : All)
      for (const auto &[Index, O] : enumerate(Choice))
        if (!O.IsForRefinement) {
          Longer.push_back(R);
          Longer.back().Options.push_back(Index);
          if (!isConsistent(Of.Axes, Longer.back().Options))
            Longer.pop_back();
        }
    All = std::move(Longer);
  }
  return All;
}

/// Looks around what is found: first around the best layout of each combination
/// of options, then around the best of all.
void Search::climb(size_t MaxRounds, size_t Seeds, size_t Followed) {
  std::set<std::vector<std::string>> Explored;
  std::set<std::vector<size_t>> Begun;
  for (size_t Round = 0; Round < MaxRounds; ++Round) {
    std::vector<Region> Next;
    size_t Count = 0;
    for (const FoundLayout &L : Found.Best) {
      if (Count == (Round == 0 ? Seeds : Followed))
        break;
      if (Round == 0 && !Begun.insert(L.Options).second)
        continue;
      ++Count;
      if (Explored.insert(L.Overrides).second)
        append_range(Next, regionsAround(Of.Axes, L));
    }
    if (Next.empty())
      break;
    evaluate(Next);
  }
}

Expected<LayoutRanking> Search::run() {
  const std::vector<Region> All = coarse();
  evaluate(All, /*IsFirst=*/true);
  if (Found.Legal == 0) {
    Expected<RegionResult> Why = Of.run(All.front(), /*ReportsRefusal=*/true);
    return Why ? createStringError("no layout is legal") : Why.takeError();
  }
  if (Found.Best.empty() && !Of.Where.empty()) {
    // None of these layouts fits, but a neighbour of the smallest may.
    Expected<LayoutRanking> Least = Search(Of.Job, Of.Axes, "", "peak").run();
    if (!Least)
      return Least.takeError();
    std::vector<Region> Next;
    for (const FoundLayout &L : ArrayRef(Least->Best).take_front(KeptLayouts))
      append_range(Next, regionsAround(Of.Axes, L));
    evaluate(Next);
  }
  climb(/*MaxRounds=*/6, /*Seeds=*/4, /*Followed=*/2);
  return std::move(Found);
}

std::vector<FoundLayout> Search::runAround(const FoundLayout &Start) {
  evaluate(regionsAround(Of.Axes, Start));
  climb(/*MaxRounds=*/2, /*Seeds=*/1, /*Followed=*/1);
  return std::move(Found.Best);
}

bool canBeTimed(const ir::Spec &S) {
  const bool IsEstimated =
      !S.Cost.Kind.isStated() || S.Cost.Kind.is(ir::CostKind::Estimate);
  return IsEstimated && S.Cluster && S.Cluster->Device.Profile.isPresent() &&
         !S.Train.OffloadOptimizer.is(true);
}

Expected<MeasuredJob> measureJob(const OpenJob &Job,
                                 ArrayRef<std::string> Overrides) {
  if (Job.IsCancelled())
    return createStringError("cancelled");
  Compiler Session({}, Job.MakeDisk());
  if (!Job.Text.empty())
    Session.setText(Job.Path, Job.Text);
  FrontendOptions Options = Job.Options;
  append_range(Options.Overrides, Overrides);
  CompiledJob &Of = Session.read(Job.Path, std::move(Options));
  ir::FactSet Needs = {ir::Fact::Scheduled, ir::Fact::Totalled};
  if (Of.spec() && canBeTimed(*Of.spec()))
    Needs.insert(ir::Fact::Costs);
  const ir::Program *P = Of.program(Needs);
  if (!P)
    return firstError(Of.engine());
  ir::ExprOverlay Sizes(*P);
  JobFigures Figures(Sizes, Validity::ThisJob);
  auto Value = [&](FigureId Id) {
    const std::optional<ir::Expr> F = Figures.of(Id);
    return F && F->hasValue() ? F->value() : INT64_MAX;
  };
  MeasuredJob M{P->Spec,
                Value(FigureId::Peak),
                Value(FigureId::Work),
                Value(FigureId::Messages),
                hostTraffic(*P).value_or(INT64_MAX),
                {},
                {},
                {}};
  if (Needs.contains(ir::Fact::Costs) && Figures.of(FigureId::Time)) {
    M.Time = Value(FigureId::Time);
    M.Upper = Value(FigureId::TimeUpper);
  }
  for (const Diagnostic &D : Of.diagnostics())
    M.Told.push_back(D.Id);
  return M;
}

Expected<LayoutRanking> findBest(const OpenJob &Job, const ir::Spec &S) {
  const bool HasMemory = deviceMemoryOf(S).has_value();
  const std::string Where =
      HasMemory ? "fits" : ("peak <= " + AssumedMemory).str();
  return findLayouts(Job, axesOf(S), Where,
                     canBeTimed(S) ? "time_upper" : "flops");
}

std::vector<FoundLayout> variationsOf(const LayoutAxes &Axes,
                                      const FoundLayout &L) {
  std::vector<FoundLayout> All;
  auto Add = [&](FoundLayout Of) {
    writeOverrides(Axes, Of);
    All.push_back(std::move(Of));
  };
  for (size_t N = 0; N < L.Values.size(); ++N)
    for (const size_t Value : {L.Values[N] - 1, L.Values[N] + 1})
      if (Value < Axes.Numbers[N].Values.size() &&
          L.find(Axes.Numbers[N].Key) ==
              std::to_string(Axes.Numbers[N].Values[L.Values[N]])) {
        FoundLayout Of = L;
        Of.Values[N] = Value;
        Add(std::move(Of));
      }
  for (const auto &[Index, Choice] : enumerate(Axes.Choices))
    for (size_t Option = 0; Option < Choice.size(); ++Option)
      if (Option != L.Options[Index] &&
          !Choice[Option].sets("parallel.layout")) {
        FoundLayout Of = L;
        Of.Options[Index] = Option;
        if (isConsistent(Axes, Of.Options))
          Add(std::move(Of));
      }
  return All;
}

Expected<LayoutRanking> findLayouts(const OpenJob &Job, const LayoutAxes &Axes,
                                    StringRef Where, StringRef Metric) {
  return Search(Job, Axes, Where, Metric).run();
}

std::vector<FoundLayout> findAround(const OpenJob &Job, const LayoutAxes &Axes,
                                    const FoundLayout &Start, StringRef Where,
                                    StringRef Metric) {
  return Search(Job, Axes, Where, Metric).runAround(Start);
}

} // namespace foretrace::start
