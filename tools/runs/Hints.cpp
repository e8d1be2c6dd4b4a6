// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/Hints.h"
#include "passes/vary/Keys.h"
#include "tools/runs/TracePlan.h"

using namespace llvm;

namespace foretrace::runs {

namespace {

/// Differences of the traces from a job.
struct JobFit {
  size_t Divergences = 0;
  /// The first divergence in a number of elements.
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

/// Compares traces with \p Job; nothing if it is not legal.
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

namespace {

/// Tries one value after the other and keeps the best.
class Search {
public:
  Search(CompiledJob &Job, megatron::Instrumentation How,
         ArrayRef<TraceFile> Traces)
      : Job(Job), How(How), Traces(Traces),
        Planned(fit(Job, How, Traces).value_or(JobFit())) {}

  void tryValue(const vary::ValueKey &K, int64_t Value);
  void tryEven(const vary::ValueKey &K);
  /// Returns whether the traces have divergences that need an explanation.
  bool hasDivergences() const { return Planned.Divergences > 0; }

  std::vector<Hint> Best;

private:
  std::optional<JobFit> fitWith(const vary::ValueKey &K, int64_t Value) const;

  const CompiledJob &Job;
  const megatron::Instrumentation How;
  const ArrayRef<TraceFile> Traces;
  const JobFit Planned;
};

} // namespace

std::optional<JobFit> Search::fitWith(const vary::ValueKey &K,
                                      int64_t Value) const {
  const std::unique_ptr<CompiledJob> Varied = Job.attempt([&](ir::Spec &S) {
    vary::setValue(S, K, Value);
    return true;
  });
  return fit(*Varied, How, Traces);
}

void Search::tryValue(const vary::ValueKey &K, int64_t Value) {
  // The right value leaves hardly any divergences, a nearer one still many.
  constexpr size_t MuchBetter = 10;
  const std::optional<JobFit> F = fitWith(K, Value);
  if (!F || F->Divergences * MuchBetter > Planned.Divergences)
    return;
  if (!Best.empty() && F->Divergences < Best.front().Divergences)
    Best.clear();
  if (Best.empty() || F->Divergences == Best.front().Divergences)
    Best.push_back(
        {K.Name, K.Spell(K.Value), K.Spell(Value), K.Range, F->Divergences});
}

/// Tries the value with which the number of elements would be the one that was
/// seen if it grew evenly.
void Search::tryEven(const vary::ValueKey &K) {
  const std::optional<JobFit> Twice = fitWith(K, 2 * K.Value);
  if (!Planned.Seen || !Twice || !Twice->Expected)
    return;
  const __int128 Growth = *Twice->Expected - *Planned.Expected;
  if (Growth == 0)
    return;
  const __int128 Value =
      K.Value +
      (__int128(*Planned.Seen) - *Planned.Expected) * K.Value / Growth;
  if (Value >= 1 && Value <= INT32_MAX)
    tryValue(K, static_cast<int64_t>(Value));
}

std::vector<Hint> findHints(CompiledJob &Job, megatron::Instrumentation How,
                            ArrayRef<TraceFile> Traces,
                            const std::set<int64_t> &Numbers) {
  Search S(Job, How, Traces);
  if (!S.hasDivergences())
    return {};
  const std::vector<vary::ValueKey> Keys = vary::valueKeysOf(*Job.spec());
  for (const vary::ValueKey &K : Keys)
    for (int64_t Value : vary::othersOf(K, Numbers))
      S.tryValue(K, Value);
  if (S.Best.empty())
    for (const vary::ValueKey &K : Keys)
      if (K.IsNumber && K.Value <= INT32_MAX)
        S.tryEven(K);
  return std::move(S.Best);
}

} // namespace foretrace::runs
