// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/Hints.h"
#include "ir/model/SpecFields.h"
#include "ir/model/Spellings.h"
#include "passes/PassManager.h"
#include "tools/runs/TracePlan.h"

using namespace llvm;

namespace foretrace::runs {

namespace {

/// Keys of one name, place and value: a section of the model that several
/// blocks share is in the spec once for each.
struct SpecKey {
  StringRef Name;
  SourceRange Range;
  int64_t Planned; ///< a number, 0 or 1, or the index of an enumerator
};

template <typename T>
bool isAt(const SpecKey &K, StringRef Name, Located<T> &F) {
  return F.isPresent() && K.Name == Name &&
         K.Range.start() == F.Range.start() &&
         K.Planned == static_cast<int64_t>(*F);
}

} // namespace

/// Visits the keys that say what is logged, and the least value of each; not
/// texts, which have no alternatives.
template <typename VisitT> static void forEachKey(ir::Spec &S, VisitT Visit) {
  auto Pass = [&](const ir::FieldRow &Row, auto &F) {
    if constexpr (!std::is_same_v<decltype(F), Located<std::string> &>)
      Visit(ir::pathOf(Row.Id), F, Row.Type == "Int" ? 1 : 0);
  };
  ir::visitJob(S, Pass);
  for (ir::BlockSpec &B : S.Model.Blocks)
    ir::visitBlock(B, Pass);
  for (ir::LayerRun &R : S.Model.Layers) {
    int64_t &Count = R.Periods == 1 ? R.Items.front().Count : R.Periods;
    Located<int64_t> Layers;
    Layers.state(Count, R.Range);
    Visit("model.layers", Layers, 1);
    Count = *Layers;
  }
}

/// The values worth a try in place of \p Planned.
template <typename T>
static std::set<int64_t> alternatives(T Planned, int64_t Least,
                                      const std::set<int64_t> &Numbers) {
  constexpr int64_t MaxFactor = 64;
  std::set<int64_t> Values;
  if constexpr (std::is_same_v<T, bool>) {
    Values = {!Planned};
  } else if constexpr (std::is_enum_v<T>) {
    for (size_t I = 0; I < ir::getSpellings<T>().size(); ++I)
      Values.insert(static_cast<int64_t>(I));
  } else if (Planned <= INT64_MAX / MaxFactor) {
    Values = {Planned - 1, Planned + 1};
    for (int64_t Factor = 2; Factor <= MaxFactor; Factor *= 2) {
      Values.insert(Planned * Factor);
      Values.insert(Planned / Factor);
    }
    for (int64_t N : Numbers)
      if (N / MaxFactor <= Planned && Planned / MaxFactor <= N)
        Values.insert(N);
    Values.erase(Values.begin(), Values.lower_bound(Least));
  }
  Values.erase(static_cast<int64_t>(Planned));
  return Values;
}

namespace {

/// How the traces differ from a job.
struct JobFit {
  size_t Divergences = 0;
  /// Of the first one in a number of elements.
  std::optional<int64_t> Expected, Seen;
};

} // namespace

/// The number of elements of `[N]`.
static std::optional<int64_t> countOf(const Divergence &D,
                                      ArrayRef<int64_t> Sizes) {
  if (!D.isOfShape() || Sizes.size() != 1)
    return std::nullopt;
  return Sizes.front();
}

/// Nothing if \p Job is no legal one.
static std::optional<JobFit> fit(CompiledJob &Job,
                                 megatron::Instrumentation How,
                                 ArrayRef<TraceFile> Traces) {
  const ir::Program *P = TracePlan::programOf(Job);
  if (!P)
    return std::nullopt;
  for (const TraceFile &T : Traces)
    if (T.Rank >= *P->Spec.Parallel.World)
      return std::nullopt;
  JobFit F;
  TracePlan(*P, How).sample(Traces, [&](const Divergence &D) {
    ++F.Divergences;
    if (F.Seen)
      return;
    F.Expected = countOf(D, D.ExpectedNumbers);
    if (F.Expected)
      F.Seen = countOf(D, D.SeenNumbers);
  });
  return F;
}

/// \p Job with \p Value for a key.
static std::unique_ptr<CompiledJob> change(const CompiledJob &Job,
                                           const SpecKey &K, int64_t Value) {
  ir::Spec Changed = *Job.spec();
  forEachKey(Changed, [&](StringRef Name, auto &F, int64_t) {
    if (isAt(K, Name, F))
      F.state(static_cast<std::decay_t<decltype(*F)>>(Value), F.Range);
  });
  return Job.vary(std::move(Changed));
}

namespace {

/// Tries one value after the other and keeps the best.
class Search {
public:
  Search(CompiledJob &Job, megatron::Instrumentation How,
         ArrayRef<TraceFile> Traces)
      : Job(Job), How(How), Traces(Traces),
        Planned(fit(Job, How, Traces).value_or(JobFit())) {}

  template <typename T> void tryValue(const SpecKey &K, int64_t Value);
  void tryEven(const SpecKey &K);
  /// Whether there is anything to explain in what is read of the traces.
  bool hasDivergences() const { return Planned.Divergences > 0; }

  std::vector<Hint> Best;

private:
  const CompiledJob &Job;
  const megatron::Instrumentation How;
  const ArrayRef<TraceFile> Traces;
  const JobFit Planned;
};

} // namespace

template <typename T> void Search::tryValue(const SpecKey &K, int64_t Value) {
  // What explains the run leaves hardly any; what is nearer leaves many.
  constexpr size_t MuchBetter = 10;
  const std::optional<JobFit> F = fit(*change(Job, K, Value), How, Traces);
  if (!F || F->Divergences * MuchBetter > Planned.Divergences)
    return;
  if (!Best.empty() && F->Divergences < Best.front().Divergences)
    Best.clear();
  if (Best.empty() || F->Divergences == Best.front().Divergences)
    Best.push_back({K.Name.str(), ir::spell(static_cast<T>(K.Planned)),
                    ir::spell(static_cast<T>(Value)), K.Range, F->Divergences});
}

/// Tries the value with which the number of elements would be the one that was
/// seen if it grew evenly.
void Search::tryEven(const SpecKey &K) {
  const std::optional<JobFit> Twice =
      fit(*change(Job, K, 2 * K.Planned), How, Traces);
  if (!Planned.Seen || !Twice || !Twice->Expected)
    return;
  const __int128 Growth = *Twice->Expected - *Planned.Expected;
  if (Growth == 0)
    return;
  const __int128 Value =
      K.Planned +
      (__int128(*Planned.Seen) - *Planned.Expected) * K.Planned / Growth;
  if (Value >= 1 && Value <= INT32_MAX)
    tryValue<int64_t>(K, static_cast<int64_t>(Value));
}

std::vector<Hint> findHints(CompiledJob &Job, megatron::Instrumentation How,
                            ArrayRef<TraceFile> Traces,
                            const std::set<int64_t> &Numbers) {
  Search S(Job, How, Traces);
  if (!S.hasDivergences())
    return {};
  std::vector<SpecKey> Counts; ///< keys that are numbers
  std::set<std::tuple<StringRef, SourceLocation, int64_t>> Tried;
  ir::Spec Keys = *Job.spec();
  forEachKey(Keys, [&](StringRef Name, auto &F, int64_t Least) {
    using T = std::decay_t<decltype(*F)>;
    if (!F.isPresent())
      return;
    const SpecKey K{Name, F.Range, static_cast<int64_t>(*F)};
    if (!Tried.insert({Name, F.Range.start(), K.Planned}).second)
      return;
    for (int64_t Value : alternatives(*F, Least, Numbers))
      S.tryValue<T>(K, Value);
    if (std::is_same_v<T, int64_t> && K.Planned <= INT32_MAX)
      Counts.push_back(K);
  });
  if (S.Best.empty())
    for (const SpecKey &K : Counts)
      S.tryEven(K);
  return std::move(S.Best);
}

} // namespace foretrace::runs
