// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/JobChanges.h"
#include "analysis/DeviceMemory.h"
#include "analysis/Figures.h"
#include "lang/diagnostics/Passes.h"
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
    // The iteration is even shorter than its estimate.
    Told.insert(diag::EstimateOverlap);
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

} // namespace

std::vector<vary::Proposal>
findFittingChanges(const CompiledJob &Job, const ir::Program &P, int64_t Room) {
  const Trial Try(Job, {ir::Fact::Scheduled, ir::Fact::Totalled});
  return vary::changesThatFit(*Job.spec(), P.Spec, vary::loadOf(P), Room,
                              [&](function_ref<void(ir::Spec &)> Change) {
                                return Try(Change, [](const ir::Program &Of) {
                                  return std::optional(vary::loadOf(Of));
                                });
                              });
}

FigureTable listFittingChanges(const CompiledJob &Job, const ir::Program &P,
                               int64_t Room) {
  const std::vector<vary::Proposal> Found = findFittingChanges(Job, P, Room);
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
  const vary::Load Now = vary::loadOf(P);
  const bool IsOffloaded =
      Now.Host != 0 ||
      any_of(Found, [](const vary::Proposal &F) { return F.Of.Host != 0; });
  if (IsOffloaded)
    T.Columns.push_back({"to_host", FigureUnit::Bytes});
  auto Add = [&](std::string Keys, const vary::Load &L) {
    T.Rows.push_back({std::move(Keys), L.peak(), L.Work, L.Messages});
    if (IsOffloaded)
      T.Rows.back().push_back(L.Host);
  };
  Add("none", Now);
  for (const vary::Proposal &F : Found)
    Add(vary::textOf(F.Keys), F.Of);
  return T;
}

std::optional<TimedJob> measureTime(const ir::Program &Of) {
  ir::ExprOverlay P(Of);
  JobFigures Figures(P, Validity::ThisJob);
  const Nanoseconds Time = Figures.iteration().Total;
  const std::optional<ir::Expr> Peak = Figures.of(FigureId::Peak);
  if (!Figures.of(FigureId::Time) || !Peak || !Peak->hasValue())
    return std::nullopt;
  return TimedJob{Time.value(), Peak->value()};
}

namespace {

/// Looks for shorter iterations of one job.
class FasterSearch {
public:
  FasterSearch(const CompiledJob &Job, const ir::Program &P,
               const TimedJob &Now)
      : Job(Job), P(P), Now(Now),
        Try(Job, {ir::Fact::Scheduled, ir::Fact::Totalled, ir::Fact::Costs}) {
    if (const std::optional<DeviceMemory> Memory = deviceMemoryOf(P.Spec);
        Memory && Memory->fits(Now.Peak))
      Room = Memory->usable();
  }

  std::vector<FasterChange> run(unsigned MostPairs);

private:
  struct Single {
    vary::Change Change;
    TimedJob Of;
  };

  void tryPairs(unsigned MostPairs);
  void propose(vary::KeyTexts Keys, const TimedJob &Of) {
    if (Of.Time < Now.Time && Of.Peak <= Room)
      Found.push_back({std::move(Keys), Of});
  }

  const CompiledJob &Job;
  const ir::Program &P;
  const TimedJob Now;
  const Trial Try;
  int64_t Room = INT64_MAX;
  std::vector<Single> Singles;
  std::vector<FasterChange> Found;
};

} // namespace

/// Tries pairs of which one change at least makes the iteration shorter,
/// whether or not it fits alone, from those that save most together.
void FasterSearch::tryPairs(unsigned MostPairs) {
  std::vector<std::pair<const Single *, const Single *>> Pairs;
  for (const Single &A : Singles)
    for (const Single &B : Singles)
      if (&A < &B && A.Of.Time < Now.Time && !A.Change.isAgainst(B.Change))
        Pairs.emplace_back(&A, &B);
  stable_sort(Pairs, [](const auto &A, const auto &B) {
    const auto Sum = [](const auto &Of) {
      return static_cast<__int128>(Of.first->Of.Time) + Of.second->Of.Time;
    };
    return Sum(A) < Sum(B);
  });
  for (const auto &[A, B] : ArrayRef(Pairs).take_front(MostPairs)) {
    const std::optional<TimedJob> Of = Try(
        [&, First = A, Second = B](ir::Spec &S) {
          First->Change.Apply(S);
          Second->Change.Apply(S);
        },
        measureTime);
    const auto Helps = [&](const Single &Alone) {
      return Alone.Of.Peak > Room || Of->Time < Alone.Of.Time;
    };
    if (!Of || !Helps(*A) || !Helps(*B))
      continue; // one of them is as good
    vary::KeyTexts Keys = A->Change.Keys;
    Keys.append(B->Change.Keys.begin(), B->Change.Keys.end());
    propose(std::move(Keys), *Of);
  }
}

std::vector<FasterChange> FasterSearch::run(unsigned MostPairs) {
  for (vary::Change &C : vary::changesOfTime(*Job.spec(), P.Spec))
    if (const std::optional<TimedJob> Of = Try(C.Apply, measureTime)) {
      propose(C.Keys, *Of);
      Singles.push_back({std::move(C), *Of});
    }
  if (MostPairs != 0) {
    stable_sort(Singles, [](const Single &A, const Single &B) {
      return A.Of.Time < B.Of.Time;
    });
    tryPairs(MostPairs);
  }
  stable_sort(Found, [](const FasterChange &A, const FasterChange &B) {
    return A.Of.Time < B.Of.Time;
  });
  return std::move(Found);
}

std::vector<FasterChange> findFasterChanges(const CompiledJob &Job,
                                            const ir::Program &P,
                                            unsigned MostPairs) {
  const std::optional<TimedJob> Now = measureTime(P);
  if (!Now)
    return {};
  return FasterSearch(Job, P, *Now).run(MostPairs);
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
  auto Add = [&](std::string Keys, const TimedJob &Of) {
    T.Rows.push_back({std::move(Keys), Of.Time,
                      millionths(Now->Time - Of.Time, Now->Time), Of.Peak});
  };
  for (const FasterChange &F : FasterSearch(Job, P, *Now).run(0))
    Add(vary::textOf(F.Keys), F.Of);
  if (T.Rows.empty())
    Add("none", *Now);
  return T;
}

} // namespace foretrace::driver
