// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Choice.h"
#include "analysis/Figures.h"
#include "tools/sweep/Engine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::sweep {

Goal goalOf(const SweepSpec &S, const SweepSpec::Goal &G) {
  const size_t Known = allFigures().size();
  return {G.Metric < Known ? allFigures()[G.Metric].Name
                           : S.Metrics[G.Metric - Known].Name,
          G.Metric, G.IsLargest};
}

Choice Choice::of(const SweepSpec &S) {
  Choice C = {S.Keeps, static_cast<size_t>(S.Count), {}, S.TakesUnfit};
  for (const SweepSpec::Goal &G : S.By)
    C.By.push_back(goalOf(S, G));
  return C;
}

Choice Choice::best(const SweepSpec &S) {
  Choice C = {SweepSpec::Kept::Top, 1, {}, S.TakesUnfit};
  if (!S.Best)
    return C;
  C.By.push_back(goalOf(S, *S.Best));
  constexpr auto Time = static_cast<size_t>(FigureId::Time);
  if (readsTime(S) && S.Best->Metric != Time)
    C.By.push_back(goalOf(S, {Time, /*IsLargest=*/false}));
  return C;
}

static constexpr StringLiteral TakesAny = "fits any";

std::string Choice::text() const {
  std::string Text = Keeps == SweepSpec::Kept::Pareto ? "pareto"
                     : Keeps == SweepSpec::Kept::Top  ? "top " + utostr(Count)
                                                      : "all";
  for (const Goal &G : By)
    Text += (G.IsLargest ? "\nmost " : "\nleast ") + G.Metric;
  return hasGoal() && TakesUnfit ? Text + "\n" + TakesAny.str() : Text;
}

Expected<Choice> Choice::read(StringRef Text) {
  SmallVector<StringRef, 4> Lines;
  Text.split(Lines, '\n');
  Choice C;
  StringRef Kind = Lines.front();
  if (Kind.consume_front("top ") && !Kind.getAsInteger(10, C.Count))
    C.Keeps = SweepSpec::Kept::Top;
  else if (Kind == "pareto")
    C.Keeps = SweepSpec::Kept::Pareto;
  else if (Kind != "all")
    return createStringError("`" + Kind + "` is no choice of points");
  for (const auto &[Index, Line] : enumerate(drop_begin(Lines))) {
    if (Line == TakesAny) {
      C.TakesUnfit = true;
      continue;
    }
    StringRef Metric = Line;
    const bool IsLargest = Metric.consume_front("most ");
    if (!IsLargest && !Metric.consume_front("least "))
      return createStringError("`" + Line + "` is no goal");
    C.By.push_back({Metric.str(), Index, IsLargest});
  }
  return C;
}

static bool isBefore(const Chooser::Point &A, const Chooser::Point &B) {
  return std::tie(A.Values, A.Id) < std::tie(B.Values, B.Id);
}

/// Returns whether \p A is at least as good as \p B in all respects.
static bool covers(const Chooser::Point &A, const Chooser::Point &B) {
  return all_of(zip_equal(A.Values, B.Values), [](const auto &Pair) {
    return std::get<0>(Pair) <= std::get<1>(Pair);
  });
}

Chooser::Point Chooser::pointOf(int64_t Id,
                                function_ref<int64_t(size_t)> MetricAt) const {
  Point P = {Id, {}};
  for (const Goal &G : By.By)
    P.Values.push_back(MetricAt(G.Index));
  P.IsEligible =
      By.TakesUnfit || MetricAt(static_cast<size_t>(FigureId::Fits)) != 0;
  if (P.IsEligible) // others may lack a metric
    for (const auto &[G, Value] : zip_equal(By.By, P.Values))
      Value = G.IsLargest ? -Value : Value;
  return P;
}

std::vector<int64_t> Chooser::add(std::vector<Point> Points) {
  if (keepsAll())
    return {};
  std::vector<int64_t> Dropped;
  for (const Point &P : Points)
    if (!P.IsEligible)
      Dropped.push_back(P.Id);
  erase_if(Points, [](const Point &P) { return !P.IsEligible; });
  append_range(Points, std::exchange(Kept, {}));
  llvm::sort(Points, isBefore);
  if (By.Keeps == SweepSpec::Kept::Top && By.Count == 1 && !Points.empty())
    for (const Point &P : drop_begin(Points))
      if (P.Values.front() == Points.front().Values.front())
        Points.front().Equal += P.Equal;
  for (Point &P : Points) {
    // No later point in this order dominates an earlier one. The point that
    // dominates another is usually close before it.
    const bool IsKept =
        By.Keeps == SweepSpec::Kept::Top
            ? Kept.size() < By.Count
            : none_of(
                  reverse(Kept),
                  [&](const Point &Other) { return covers(Other, P); });
    if (IsKept)
      Kept.push_back(std::move(P));
    else
      Dropped.push_back(P.Id);
  }
  return Dropped;
}

} // namespace foretrace::sweep
