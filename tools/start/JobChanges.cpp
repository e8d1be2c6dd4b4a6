// SPDX-License-Identifier: Apache-2.0
#include "tools/start/JobChanges.h"
#include "analysis/DeviceMemory.h"
#include "analysis/Figures.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Passes.h"
#include "passes/vary/Moves.h"
#include "tools/start/LayoutSweep.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace llvm;

namespace foretrace::start {

namespace {

class ChangeSearch {
public:
  ChangeSearch(OpenJob Job, std::optional<int64_t> Room)
      : Job(std::move(Job)), IsForMemory(Room), Limit(Room) {}

  Expected<JobChanges> run();

private:
  Error begin();
  std::vector<Region> singles() const;
  void trySingles();
  std::vector<FoundLayout> fittingTogether() const;
  std::vector<FoundLayout> leastOf(ArrayRef<Region> Of, StringRef Where,
                                   StringRef Metric) const;
  std::vector<std::string> keysOf(const FoundLayout &L) const;
  std::optional<MeasuredJob> measure(ArrayRef<std::string> Keys) const;
  bool isAsGood(const MeasuredJob &Of, const MeasuredJob &As) const;
  void propose(const FoundLayout &L);

  OpenJob Job;
  const bool IsForMemory;
  std::optional<int64_t> Limit; ///< bytes of a rank
  std::string Fits;             ///< the condition
  LayoutAxes Axes;
  FoundLayout Start;
  JobChanges Out;
};

} // namespace

/// Reads the job, whose ranks and samples no change adds to.
Error ChangeSearch::begin() {
  Expected<MeasuredJob> Is = measureJob(Job, {});
  if (!Is)
    return Is.takeError();
  Out.Now = std::move(*Is);
  const ir::Spec &S = Out.Now.Spec;
  if (!IsForMemory && !Out.Now.Upper)
    return createStringError("the time of an iteration is not estimated");
  if (S.Model.Blocks.size() > vary::MaxParts ||
      S.Parallel.Layout.size() > vary::MaxParts)
    return createStringError("the job is too large");
  for (const auto &[Key, Value] :
       {std::pair("parallel.world=", *S.Parallel.World),
        std::pair("train.global_batch=", *S.Train.GlobalBatch)})
    if (none_of(Job.Options.Overrides, [Key = StringRef(Key)](StringRef O) {
          return O.starts_with(Key);
        }))
      Job.Options.Overrides.push_back(Key + std::to_string(Value));
  if (const auto Memory = deviceMemoryOf(S); Memory && !Limit)
    Limit = Memory->usable();
  if (Limit)
    Fits = "peak <= " + std::to_string(*Limit) + " B";
  Axes = axesAround(S, IsForMemory);
  Start.Options.assign(Axes.Choices.size(), 0);
  for (const LayoutAxes::Number &N : Axes.Numbers)
    Start.Values.push_back(N.First.front());
  return Error::success();
}

/// A region for each number, its values from the nearest one, and for each
/// option.
std::vector<Region> ChangeSearch::singles() const {
  std::vector<Region> All;
  for (const auto &[Index, N] : enumerate(Axes.Numbers)) {
    Region R{Start.Options, {}};
    const size_t Is = Start.Values[Index];
    for (size_t Far = 1; Far < N.Values.size(); ++Far)
      for (const size_t Value : {Is + Far, Is - Far})
        if (Value < N.Values.size()) {
          R.Rows.push_back(Start.Values);
          R.Rows.back()[Index] = Value;
        }
    if (!R.Rows.empty())
      All.push_back(std::move(R));
  }
  for (const auto &[Index, Choice] : enumerate(Axes.Choices))
    for (size_t Option = 1; Option < Choice.size(); ++Option) {
      All.push_back({Start.Options, {Start.Values}});
      All.back().Options[Index] = Option;
    }
  return All;
}

/// Returns the keys that \p L sets to other values than the job.
std::vector<std::string> ChangeSearch::keysOf(const FoundLayout &L) const {
  std::vector<std::string> Keys;
  for (const auto &[Choice, Option] : zip_equal(Axes.Choices, L.Options))
    for (const std::string &O : Choice[Option].Overrides)
      if (!is_contained(Keys, O))
        Keys.push_back(O);
  for (const auto &[N, Value, Is] :
       zip_equal(Axes.Numbers, L.Values, Start.Values))
    if (Value != Is && none_of(Keys, [&, &Key = N.Key](StringRef O) {
          return O.split('=').first == Key;
        }))
      Keys.push_back(N.Key + "=" + std::to_string(N.Values[Value]));
  return Keys;
}

/// Returns the job with \p Keys; nothing if something is wrong with it that is
/// not wrong with the job.
std::optional<MeasuredJob>
ChangeSearch::measure(ArrayRef<std::string> Keys) const {
  Expected<MeasuredJob> M = measureJob(Job, Keys);
  if (!M) {
    consumeError(M.takeError());
    return std::nullopt;
  }
  // The upper end has what the estimate hides nothing of, and other keys may
  // lose their effect.
  const bool IsGood = all_of(M->Told, [&](diag::Id Id) {
    return Id == diag::EstimateOverlap || Id == diag::KeyWithoutEffect ||
           is_contained(Out.Now.Told, Id);
  });
  return IsGood ? std::optional(std::move(*M)) : std::nullopt;
}

/// Returns whether the difference between \p Time and \p As is too small for
/// one more key.
static bool isAbout(int64_t Time, int64_t As) {
  constexpr double Worth = 0.002;
  return static_cast<double>(Time) <= static_cast<double>(As) * (1 + Worth);
}

/// Returns whether \p Of fits and, if that is asked for, is as fast as \p As.
bool ChangeSearch::isAsGood(const MeasuredJob &Of,
                            const MeasuredJob &As) const {
  if (Limit && Of.Peak > *Limit)
    return false;
  return IsForMemory || (Of.Upper && isAbout(*Of.Time, *As.Time) &&
                         isAbout(*Of.Upper, *As.Upper));
}

/// Returns \p Keys without one of them, or without one word in a list.
static std::vector<std::vector<std::string>>
shorter(ArrayRef<std::string> Keys) {
  std::vector<std::vector<std::string>> All;
  for (size_t I = 0; I < Keys.size(); ++I) {
    const auto [Key, Value] = StringRef(Keys[I]).split('=');
    std::vector<std::string> Fewer = Keys.vec();
    SmallVector<StringRef> Words;
    if (StringRef List = Value;
        List.consume_front("\"") && List.consume_back("\""))
      List.split(Words, ' ');
    if (Words.size() > 1)
      for (const StringRef Word : Words) {
        SmallVector<StringRef> Others = Words;
        erase(Others, Word);
        Fewer[I] = (Key + "=\"" + join(Others, " ") + "\"").str();
        All.push_back(Fewer);
      }
    if (Keys.size() == 1)
      continue;
    Fewer.erase(Fewer.begin() + static_cast<ptrdiff_t>(I));
    All.push_back(std::move(Fewer));
  }
  return All;
}

/// Adds the changes of \p L that it needs.
void ChangeSearch::propose(const FoundLayout &L) {
  std::vector<std::string> Keys = keysOf(L);
  std::optional<MeasuredJob> Of = measure(Keys);
  if (!Of || !isAsGood(*Of, Out.Now))
    return;
  const MeasuredJob Whole = *Of;
  for (bool IsShorter = true; IsShorter;) {
    IsShorter = false;
    for (std::vector<std::string> &Fewer : shorter(Keys)) {
      std::optional<MeasuredJob> With = measure(Fewer);
      if (!With || !isAsGood(*With, Whole))
        continue;
      Keys = std::move(Fewer);
      Of = std::move(With);
      IsShorter = true;
      break;
    }
  }
  const bool IsKnown =
      any_of(Out.Found, [&](const JobChange &F) { return F.Keys == Keys; });
  if (IsKnown || (!IsForMemory && isAbout(*Out.Now.Time, *Of->Time)))
    return;
  const bool IsLossy =
      any_of(zip_equal(Axes.Choices, L.Options), [](const auto &Of) {
        const auto &[Choice, Option] = Of;
        return Choice[Option].IsLossy;
      });
  Out.Found.push_back({std::move(Keys), std::move(*Of), IsLossy});
}

/// Returns all layouts found in regions, the best first.
std::vector<FoundLayout> ChangeSearch::leastOf(ArrayRef<Region> Of,
                                               StringRef Where,
                                               StringRef Metric) const {
  std::vector<FoundLayout> All;
  for (RegionResult &R :
       LayoutSweep{Job, Axes, Where.str(), Metric.str()}.runAll(Of))
    append_range(All, R.Best);
  stable_sort(All, [](const FoundLayout &A, const FoundLayout &B) {
    return A.Goal < B.Goal;
  });
  return All;
}

/// Proposes the best change of each set of keys.
void ChangeSearch::trySingles() {
  std::set<std::vector<std::string>> Known;
  for (const FoundLayout &L :
       leastOf(singles(), Fits, IsForMemory ? "flops" : "time_upper")) {
    std::vector<std::string> Names;
    for (const StringRef Key : keysOf(L))
      Names.push_back(Key.split('=').first.str());
    if (Known.insert(std::move(Names)).second)
      propose(L);
  }
}

/// Returns the layouts that fit near the job, or near those with the least
/// memory. Layouts with the fewest changes come first.
std::vector<FoundLayout> ChangeSearch::fittingTogether() const {
  constexpr size_t Rounds = 2, Seeds = 2;
  std::vector<FoundLayout> From = {Start}, Found;
  for (size_t Round = 0; Round < Rounds && Found.empty(); ++Round) {
    std::vector<Region> Next;
    for (const FoundLayout &L : ArrayRef(From).take_front(Seeds))
      append_range(Next, regionsAround(Axes, L));
    From = leastOf(Next, "", "peak");
    copy_if(From, std::back_inserter(Found),
            [&](const FoundLayout &L) { return L.Goal <= *Limit; });
  }
  stable_sort(Found, [&](const FoundLayout &A, const FoundLayout &B) {
    return keysOf(A).size() < keysOf(B).size();
  });
  return Found;
}

Expected<JobChanges> ChangeSearch::run() {
  if (Error E = begin())
    return E;
  trySingles();
  constexpr size_t MostFaster = 3, MostFitting = 8;
  std::vector<FoundLayout> Together;
  if (!IsForMemory)
    Together = findAround(Job, Axes, Start, Fits, "time_upper");
  else if (Out.Found.empty())
    Together = fittingTogether();
  for (const FoundLayout &L :
       ArrayRef(Together).take_front(IsForMemory ? MostFitting : MostFaster))
    propose(L);
  stable_sort(Out.Found, [](const JobChange &A, const JobChange &B) {
    const auto Price = [](const JobChange &C) {
      return std::tuple(C.IsLossy, C.Job.Time ? 0 : C.Keys.size(),
                        C.Job.Time.value_or(0), C.Job.Work, C.Job.Messages);
    };
    return Price(A) < Price(B);
  });
  return std::move(Out);
}

Expected<JobChanges> findFitting(OpenJob Job, int64_t Room) {
  return ChangeSearch(std::move(Job), Room).run();
}

Expected<JobChanges> findFaster(OpenJob Job) {
  return ChangeSearch(std::move(Job), std::nullopt).run();
}

/// `zero = 1, moe.dispatcher = flex`.
static std::string textOf(ArrayRef<std::string> Keys) {
  std::string Text;
  for (const StringRef O : Keys) {
    const auto [Path, Value] = O.split('=');
    const StringRef Key = Path.split('.').second; // within its section
    Text += ((Text.empty() ? "" : ", ") + Key + " = " + Value).str();
  }
  return Text;
}

static FigureTable tableOfFitting(const OpenJob &Job, int64_t Room) {
  FigureTable T{"changes",
                "No change that was tried makes the job fit (worst rank)",
                {{"change", FigureUnit::Text},
                 {"peak", FigureUnit::Bytes},
                 {"flops", FigureUnit::Flops},
                 {"messages", FigureUnit::Bytes}},
                {}};
  Expected<JobChanges> All = findFitting(Job, Room);
  if (!All) {
    T.Title = "Changes that would make the job fit are not known: " +
              toString(All.takeError());
    return T;
  }
  if (!All->Found.empty())
    T.Title = "Changes that would make the job fit (worst rank)";
  All->Found.insert(All->Found.begin(), {{}, All->Now});
  const bool IsOffloaded =
      any_of(All->Found, [](const JobChange &C) { return C.Job.Host != 0; });
  const bool AreTimed = all_of(
      All->Found, [](const JobChange &C) { return C.Job.Time.has_value(); });
  if (IsOffloaded)
    T.Columns.push_back({"to_host", FigureUnit::Bytes});
  if (AreTimed)
    T.Columns.push_back({"time", FigureUnit::Time});
  for (const JobChange &C : All->Found) {
    T.Rows.push_back({C.Keys.empty() ? "none" : textOf(C.Keys), C.Job.Peak,
                      C.Job.Work, C.Job.Messages});
    if (IsOffloaded)
      T.Rows.back().push_back(C.Job.Host);
    if (AreTimed)
      T.Rows.back().push_back(*C.Job.Time);
  }
  return T;
}

static FigureTable tableOfFaster(const OpenJob &Job) {
  FigureTable T{"changes",
                "Changes that make it shorter",
                {{"change", FigureUnit::Text},
                 {"time", FigureUnit::Time},
                 {"saved", FigureUnit::Millionths},
                 {"peak", FigureUnit::Bytes}},
                {}};
  Expected<JobChanges> All = findFaster(Job);
  if (!All) {
    T.Title = "Changes that make it shorter are not known: " +
              toString(All.takeError());
    return T;
  }
  const int64_t Now = *All->Now.Time;
  if (All->Found.empty()) // the row says `none`
    All->Found.push_back({{}, All->Now});
  for (const JobChange &C : All->Found)
    T.Rows.push_back({C.Keys.empty() ? "none" : textOf(C.Keys), *C.Job.Time,
                      millionths(Now - *C.Job.Time, Now), C.Job.Peak});
  return T;
}

driver::EmitterOptions offerChanges(Compiler &Session, StringRef Path,
                                    const FrontendOptions &Reading) {
  OpenJob Job = {Path.str(), Session.givenText(Path).str(), Reading};
  if (Path == "-") // it can be read once
    Job.Path = "<stdin>";
  driver::EmitterOptions To;
  To.ListFitting = [Job](int64_t Room) { return tableOfFitting(Job, Room); };
  To.ReadPool = [&Session, Path = Path.str(), Reading](
                    StringRef Pool, DiagnosticEngine Diags) -> CompiledJob & {
    FrontendOptions Options = Reading;
    Options.Pool = Pool;
    return Session.read(Path, std::move(Options), std::move(Diags));
  };
  To.ListFaster = [Job = std::move(Job)] { return tableOfFaster(Job); };
  return To;
}

} // namespace foretrace::start
