// SPDX-License-Identifier: Apache-2.0
#include "tools/start/LayoutSearch.h"
#include "analysis/DeviceMemory.h"
#include "analysis/Figures.h"
#include "lang/diagnostics/Tools.h"
#include "tools/sweep/Report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/ThreadPool.h"
#include <set>

using namespace llvm;

namespace foretrace::start {

StringRef FoundLayout::find(StringRef Key) const {
  for (const std::string &O : Overrides)
    if (const auto [Of, Value] = StringRef(O).split('='); Of == Key)
      return Value;
  return {};
}

namespace {

/// Layouts that have the same options.
struct Region {
  std::vector<size_t> Options; ///< by choice
  /// The values of all numbers, a row for each layout; without rows all
  /// combinations.
  std::vector<std::vector<size_t>> Rows;
};

/// Result of a sweep over a region.
struct RegionResult {
  std::vector<FoundLayout> Best;
  int64_t Accepted = 0, Legal = 0;
};

class Search {
public:
  Search(const OpenJob &Job, const LayoutAxes &Axes, StringRef Where,
         StringRef Metric);

  Expected<LayoutRanking> run();

private:
  std::vector<Region> coarse() const;
  std::vector<Region> around(const FoundLayout &L) const;
  std::vector<std::string> axesFor(Region &R, const FoundLayout &Fixed) const;
  void evaluate(ArrayRef<Region> Of, bool IsFirst = false);
  RegionResult sweepOver(Region R) const;
  Expected<RegionResult> trySweep(Region R, bool ReportsRefusal = false) const;

  const OpenJob &Job;
  const LayoutAxes &Axes;
  const StringRef Where, Metric;
  LayoutRanking Found;
  std::set<std::vector<std::string>> Known; ///< layouts in Found
};

} // namespace

/// How many layouts are kept of a region and looked around.
static constexpr size_t KeptLayouts = 4;

/// The disk with the job on it.
static IntrusiveRefCntPtr<sweep::FrozenFiles> diskWith(const OpenJob &Job) {
  const auto Real = vfs::getRealFileSystem();
  auto All = makeIntrusiveRefCnt<vfs::OverlayFileSystem>(Real);
  if (!Job.Text.empty()) {
    auto Given = makeIntrusiveRefCnt<vfs::InMemoryFileSystem>();
    if (auto Folder = Real->getCurrentWorkingDirectory())
      (void)Given->setCurrentWorkingDirectory(*Folder);
    Given->addFile(Job.Path, /*ModificationTime=*/0,
                   MemoryBuffer::getMemBuffer(Job.Text));
    All->pushOverlay(std::move(Given));
  }
  return makeIntrusiveRefCnt<sweep::FrozenFiles>(std::move(All));
}

Search::Search(const OpenJob &Job, const LayoutAxes &Axes, StringRef Where,
               StringRef Metric)
    : Job(Job), Axes(Axes), Where(Where), Metric(Metric) {}

Error firstError(const DiagnosticEngine &Diags) {
  for (const Diagnostic &D : Diags.diagnostics())
    if (D.Level == Severity::Error)
      return createStringError(D.text());
  return createStringError("it can't be compiled");
}

/// Why points are refused, as most of them are.
static std::string refusalOf(Compiler &Session, const sweep::Sweep &S,
                             const sweep::Summary &Done) {
  const auto Most =
      max_element(Done.Rejected, [](const auto &A, const auto &B) {
        return A.second.Count < B.second.Count;
      });
  if (Most == Done.Rejected.end())
    return "no layout is legal";
  const sweep::PointVerdict V = sweep::judge(Session, S, Most->second.Example);
  const Diagnostic *First = sweep::firstError(V);
  return "no layout is legal: " + (First ? First->text() : "it is refused");
}

/// Sets what \p L sets by its options and values.
static void write(const LayoutAxes &Axes, FoundLayout &L) {
  L.Overrides.clear();
  for (const auto &[Choice, Option] : zip_equal(Axes.Choices, L.Options))
    append_range(L.Overrides, Choice[Option].Overrides);
  for (const auto &[N, Value] : zip_equal(Axes.Numbers, L.Values))
    if (L.find(N.Key).empty())
      L.Overrides.push_back(N.Key + "=" + std::to_string(N.Values[Value]));
}

/// The axes of a sweep over \p R, of numbers that \p Fixed does not set.
std::vector<std::string> Search::axesFor(Region &R,
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

Expected<RegionResult> Search::trySweep(Region R, bool ReportsRefusal) const {
  // Sessions of several threads do not share a file system: each sets its
  // working directory.
  const IntrusiveRefCntPtr<sweep::FrozenFiles> Files = diskWith(Job);
  Compiler Session(PassRunner(), Files);
  FoundLayout Fixed{R.Options, {}, {}, 0};
  for (const auto &[Choice, Option] : zip_equal(Axes.Choices, R.Options))
    append_range(Fixed.Overrides, Choice[Option].Overrides);
  FrontendOptions Options = Job.Options;
  append_range(Options.Overrides, Fixed.Overrides);
  SweepRequest Request = sweep::makeRequest();
  for (std::string &Axis : axesFor(R, Fixed))
    Request.Entries.push_back({"sweep", std::move(Axis)});
  if (!Where.empty())
    Request.Entries.push_back({"where", Where.str()});
  Request.Entries.push_back({"minimize", Metric.str()});
  Request.Entries.push_back(
      {"keep", "top(" + std::to_string(KeptLayouts) + ")"});
  Request.Entries.push_back({"fits", "any"}); // Where says what must fit
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
  S.MeasuresAll = false;
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
    write(Axes, L);
    Out.Best.push_back(std::move(L));
  }
  return Out;
}

/// Returns no layouts if the region cannot be swept.
RegionResult Search::sweepOver(Region R) const {
  Expected<RegionResult> Of = trySweep(std::move(R));
  if (Of)
    return std::move(*Of);
  consumeError(Of.takeError());
  return {};
}

/// Adds what is found in regions.
void Search::evaluate(ArrayRef<Region> Of, bool IsFirst) {
  std::vector<RegionResult> Results(Of.size());
  {
    DefaultThreadPool Pool;
    for (const auto &[R, To] : zip_equal(Of, Results))
      Pool.async([this, &R = R, &To = To] { To = sweepOver(R); });
    Pool.wait();
  }
  for (RegionResult &R : Results) {
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

/// Whether no two of \p Options set a key to different values.
static bool isConsistent(const LayoutAxes &Axes, ArrayRef<size_t> Options) {
  StringMap<StringRef> Set;
  for (const auto &[Choice, Option] : zip(Axes.Choices, Options))
    for (const StringRef O : Choice[Option].Overrides) {
      const auto [Key, Value] = O.split('=');
      if (Set.try_emplace(Key, Value).first->second != Value)
        return false;
    }
  return true;
}

/// All combinations of options that are not for refinement, with all numbers.
std::vector<Region> Search::coarse() const {
  std::vector<Region> All(1);
  for (const std::vector<LayoutAxes::Option> &Choice : Axes.Choices) {
    std::vector<Region> Longer;
    for (const Region &R : All)
      for (const auto &[Index, O] : enumerate(Choice))
        if (!O.IsForRefinement) {
          Longer.push_back(R);
          Longer.back().Options.push_back(Index);
          if (!isConsistent(Axes, Longer.back().Options))
            Longer.pop_back();
        }
    All = std::move(Longer);
  }
  return All;
}

/// Layouts with any other value of one number; or with any other option of one
/// choice and, unless that is a list of layers, the next larger or smaller
/// value of one number at most.
std::vector<Region> Search::around(const FoundLayout &L) const {
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
        All.push_back(Choice[Option].sets("parallel.layout")
                          ? Region{L.Options, {L.Values}}
                          : Neighbors);
        All.back().Options[Index] = Option;
        if (!isConsistent(Axes, All.back().Options))
          All.pop_back();
      }
  return All;
}

Expected<LayoutRanking> Search::run() {
  const std::vector<Region> All = coarse();
  evaluate(All, /*IsFirst=*/true);
  if (Found.Legal == 0) {
    Expected<RegionResult> Why = trySweep(All.front(), /*ReportsRefusal=*/true);
    return Why ? createStringError("no layout is legal") : Why.takeError();
  }
  if (Found.Best.empty() && !Where.empty()) {
    // None of these fits, but one like the least of them may.
    Expected<LayoutRanking> Least = Search(Job, Axes, "", "peak").run();
    if (!Least)
      return Least.takeError();
    std::vector<Region> Next;
    for (const FoundLayout &L : ArrayRef(Least->Best).take_front(KeptLayouts))
      append_range(Next, around(L));
    evaluate(Next);
  }
  // First around the best layout of each combination of options, then around
  // the best of all.
  std::set<std::vector<std::string>> Explored;
  std::set<std::vector<size_t>> Begun;
  constexpr size_t MaxRounds = 6, Seeds = 4, Followed = 2;
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
        append_range(Next, around(L));
    }
    if (Next.empty())
      break;
    evaluate(Next);
  }
  return std::move(Found);
}

bool canBeTimed(const ir::Spec &S) {
  const bool IsEstimated =
      !S.Cost.Kind.isStated() || S.Cost.Kind.is(ir::CostKind::Estimate);
  return IsEstimated && S.Cluster && S.Cluster->Device.Profile.isPresent() &&
         !S.Train.OffloadOptimizer.is(true);
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
    write(Axes, Of);
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

} // namespace foretrace::start
