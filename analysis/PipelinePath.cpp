// SPDX-License-Identifier: Apache-2.0
#include "analysis/FlatSchedule.h"
#include "ir/schedule/FoldSchedule.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Returns the time of \p Path.
static int64_t timeOf(const PipelinePath &Path, ActionDuration Duration,
                      llvm::ArrayRef<int64_t> Update) {
  int64_t Sum = Update[static_cast<size_t>(Path.Last)];
  for (const auto &[Step, Times] : Path.Steps)
    Sum += Times * Duration(Step.Stage, Step.Action);
  return Sum;
}

/// Returns the path with \p Periods times what \p After has more than \p
/// Before; nothing if that is less for some step.
static std::optional<PipelinePath> extended(const PipelinePath &Before,
                                            const PipelinePath &After,
                                            int64_t Periods) {
  PipelinePath Path = Before;
  Path.Last = After.Last;
  for (const auto &[Step, Times] : Before.Steps)
    Path.Steps[Step] -= Times * Periods;
  for (const auto &[Step, Times] : After.Steps)
    Path.Steps[Step] += Times * Periods;
  for (const auto &[Step, Times] : Path.Steps)
    if (Times < 0)
      return std::nullopt;
  return Path;
}

std::optional<PipelinePath> PipelineTimer::path(const Schedule &S,
                                                ActionDuration Duration,
                                                llvm::ArrayRef<int64_t> Update,
                                                int64_t Total) {
  auto Trace = [&](int64_t MicroBatches) -> std::optional<PipelinePath> {
    Schedule Few = S;
    Few.MicroBatches = MicroBatches;
    if (const FlatSchedule *Flat = flat(Few, Few.MicroBatches))
      return Flat->path(Flat->durations(Duration), Update);
    return std::nullopt;
  };
  const int64_t Period = periodOf(S);
  for (int64_t N = foldMicroBatches(S).MicroBatches;
       N + Period < S.MicroBatches / 3; N += N - N % Period) {
    const std::optional<PipelinePath> First = Trace(N),
                                      Next = Trace(N + Period);
    if (!First || !Next)
      return std::nullopt;
    const std::optional<PipelinePath> Path =
        extended(*First, *Next, (S.MicroBatches - N) / Period);
    if (Path && timeOf(*Path, Duration, Update) == Total)
      return Path;
  }
  std::optional<PipelinePath> Path = Trace(S.MicroBatches);
  if (Path && timeOf(*Path, Duration, Update) != Total)
    Path.reset();
  return Path;
}
