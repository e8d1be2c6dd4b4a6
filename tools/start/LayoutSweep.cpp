// SPDX-License-Identifier: Apache-2.0
#include "tools/start/LayoutSweep.h"
#include "lang/diagnostics/Tools.h"
#include "tools/sweep/Report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/ThreadPool.h"

using namespace llvm;

namespace foretrace::start {

StringRef FoundLayout::find(StringRef Key) const {
  for (const std::string &O : Overrides)
    if (const auto [Of, Value] = StringRef(O).split('='); Of == Key)
      return Value;
  return {};
}

Error firstError(const DiagnosticEngine &Diags) {
  const Diagnostic *First = Diags.firstError();
  return createStringError(First ? First->text() : "it can't be compiled");
}

/// Returns why most of the points are refused.
static std::string refusalOf(Compiler &Session, const sweep::Sweep &S,
                             const sweep::Summary &Done) {
  const auto Most =
      max_element(Done.Rejected, [](const auto &A, const auto &B) {
        return A.second.Count < B.second.Count;
      });
  if (Most == Done.Rejected.end())
    return "no layout is legal";
  const sweep::PointVerdict V = sweep::judge(Session, S, Most->second.Example);
  const Diagnostic *First = V.Job.engine().firstError();
  return "no layout is legal: " + (First ? First->text() : "it is refused");
}

void writeOverrides(const LayoutAxes &Axes, FoundLayout &L) {
  L.Overrides.clear();
  for (const auto &[Choice, Option] : zip_equal(Axes.Choices, L.Options))
    append_range(L.Overrides, Choice[Option].Overrides);
  for (const auto &[N, Value] : zip_equal(Axes.Numbers, L.Values))
    if (L.find(N.Key).empty())
      L.Overrides.push_back(N.Key + "=" + std::to_string(N.Values[Value]));
}

/// The axes of a sweep over \p R, of numbers that \p Fixed does not set.
std::vector<std::string> LayoutSweep::axesFor(Region &R,
                                              const FoundLayout &Fixed) const {
  std::vector<std::string> All;
  std::vector<size_t> Free;
  for (const auto &[Index, N] : enumerate(Axes.Numbers))
    if (Fixed.find(N.Key).empty())
      Free.push_back(Index);
  if (R.Rows.empty()) {
    for (const size_t Index : Free) {
      const LayoutAxes::Number &N = Axes.Numbers[Index];
      All.push_back(
          N.Key + "=" +
          join(map_range(N.First,
                         [&](size_t I) { return std::to_string(N.Values[I]); }),
               ","));
    }
    return All;
  }
  SmallVector<std::string> Keys, Tuples;
  for (const size_t Index : Free)
    Keys.push_back(Axes.Numbers[Index].Key);
  std::vector<std::vector<size_t>> Unique;
  for (std::vector<size_t> &Row : R.Rows) {
    SmallVector<std::string> Tuple;
    for (const size_t Index : Free)
      Tuple.push_back(std::to_string(Axes.Numbers[Index].Values[Row[Index]]));
    std::string Text = join(Tuple, ",");
    if (Keys.size() > 1)
      Text = "[" + Text + "]";
    if (is_contained(Tuples, Text))
      continue;
    Tuples.push_back(std::move(Text));
    Unique.push_back(std::move(Row));
  }
  R.Rows = std::move(Unique);
  if (!Keys.empty())
    All.push_back(join(Keys, ",") + "=" + join(Tuples, ","));
  return All;
}

Expected<RegionResult> LayoutSweep::run(Region R, bool ReportsRefusal) const {
  if (Job.IsCancelled())
    return createStringError("cancelled");
  // Sessions of several threads do not share a file system: each sets its
  // working directory.
  const IntrusiveRefCntPtr<sweep::FrozenFiles> Files = sweep::freeze(
      Job.MakeDisk(), Job.Path,
      Job.Text.empty() ? std::nullopt : std::optional<StringRef>(Job.Text));
  Compiler Session({}, Files);
  FoundLayout Fixed{R.Options, {}, {}, 0};
  for (const auto &[Choice, Option] : zip_equal(Axes.Choices, R.Options))
    append_range(Fixed.Overrides, Choice[Option].Overrides);
  FrontendOptions Options = Job.Options;
  erase_if(Options.Overrides, [&](StringRef O) { // they vary
    const StringRef Key = O.split('=').first;
    return !Fixed.find(Key).empty() ||
           any_of(Axes.Numbers,
                  [&](const LayoutAxes::Number &N) { return N.Key == Key; });
  });
  append_range(Options.Overrides, Fixed.Overrides);
  SweepRequest Request = sweep::makeRequest();
  Request.IsAlone = true;
  for (std::string &Axis : axesFor(R, Fixed))
    Request.Entries.push_back({"sweep", std::move(Axis)});
  if (!Where.empty())
    Request.Entries.push_back({"where", Where});
  Request.Entries.push_back({"minimize", Metric});
  Request.Entries.push_back(
      {"keep", "top(" + std::to_string(KeptLayouts) + ")"});
  Request.Entries.push_back({"fits", "any"}); // Where decides what fits
  DiagnosticEngine Diags;
  std::optional<SweepSpec> Spec =
      Session.readSweep(Job.Path, Options, Request, Diags);
  if (!Spec)
    return firstError(Diags);
  Expected<sweep::Space> Points = sweep::Space::make(std::move(*Spec));
  if (!Points)
    return Points.takeError();
  sweep::Sweep S = {Job.Path, std::move(Options), {}, std::move(*Points)};
  S.Files = Files;
  S.MeasuresAll = S.TimesAll = false;
  CompiledJob &First = sweep::replay(Session, S, 0);
  if (!sweep::canBeSwept(First, Session.sources()))
    return firstError(First.engine());
  Expected<sweep::Summary> Done = sweep::runSweep(
      S, /*DB=*/nullptr, /*Threads=*/1, [](const sweep::Summary &) {});
  if (!Done)
    return Done.takeError();
  RegionResult Out;
  Out.Accepted = Out.Legal = Done->Accepted;
  for (const auto &[Why, Of] : Done->Rejected)
    if (Why.Reported == diag::WhereFailed)
      Out.Legal += Of.Count;
  if (Out.Legal == 0 && ReportsRefusal)
    return createStringError(refusalOf(Session, S, *Done));
  for (const sweep::Chooser::Point &P : Done->Kept.kept()) {
    FoundLayout L{R.Options, {}, {}, P.Values.front()};
    size_t Axis = 0;
    if (!R.Rows.empty())
      L.Values = R.Rows[static_cast<size_t>(P.Id)];
    else
      for (const LayoutAxes::Number &N : Axes.Numbers)
        L.Values.push_back(Fixed.find(N.Key).empty()
                               ? N.First[S.Space.indexAt(P.Id, Axis++)]
                               : 0);
    writeOverrides(Axes, L);
    Out.Best.push_back(std::move(L));
  }
  return Out;
}

std::vector<RegionResult> LayoutSweep::runAll(ArrayRef<Region> Of) const {
  std::vector<RegionResult> Results(Of.size());
  DefaultThreadPool Pool;
  for (const auto &[R, To] : zip_equal(Of, Results))
    Pool.async([this, &R = R, &To = To] {
      Expected<RegionResult> Found = run(R);
      if (Found)
        To = std::move(*Found);
      else
        consumeError(Found.takeError());
    });
  Pool.wait();
  return Results;
}

bool isConsistent(const LayoutAxes &Axes, ArrayRef<size_t> Options) {
  StringMap<StringRef> Set;
  for (const auto &[Choice, Option] : zip(Axes.Choices, Options))
    for (const StringRef O : Choice[Option].Overrides) {
      const auto [Key, Value] = O.split('=');
      if (Set.try_emplace(Key, Value).first->second != Value)
        return false;
    }
  return true;
}

std::vector<Region> regionsAround(const LayoutAxes &Axes,
                                  const FoundLayout &L) {
  Region OtherValues{L.Options, {L.Values}}, Neighbors = OtherValues;
  for (const auto &[Index, N] : enumerate(Axes.Numbers))
    for (size_t Value = 0; Value < N.Values.size(); ++Value) {
      std::vector<size_t> Row = L.Values;
      Row[Index] = Value;
      if (Value + 1 == L.Values[Index] || Value == L.Values[Index] + 1)
        Neighbors.Rows.push_back(Row);
      if (Value != L.Values[Index])
        OtherValues.Rows.push_back(std::move(Row));
    }
  std::vector<Region> All = {std::move(OtherValues)};
  for (const auto &[Index, Choice] : enumerate(Axes.Choices))
    for (size_t Option = 0; Option < Choice.size(); ++Option)
      if (Option != L.Options[Index]) {
        All.push_back(Choice[Option].sets("parallel.layout") ||
                              Choice[Option].sets("parallel.schedule")
                          ? Region{L.Options, {L.Values}}
                          : Neighbors);
        All.back().Options[Index] = Option;
        if (!isConsistent(Axes, All.back().Options))
          All.pop_back();
      }
  return All;
}

} // namespace foretrace::start
