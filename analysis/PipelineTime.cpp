// SPDX-License-Identifier: Apache-2.0
#include "analysis/PipelineTime.h"
#include "analysis/FlatSchedule.h"
#include "ir/schedule/FoldSchedule.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// Runs all calls and keeps the ends of stages.
struct EndsOfStages : StageRuns {
  using StageRuns::StageRuns;
  std::vector<int64_t> Ends = std::vector<int64_t>(size());

  void end(size_t I, int64_t, int64_t End) { Ends[I] = End; }
};

/// Times of a stage with one chunk.
struct StageSteps {
  int64_t Forward, Backward;
  int64_t ToNext, ToPrevious; ///< messages
};

} // namespace

static int64_t withUpdates(llvm::ArrayRef<int64_t> Ends,
                           llvm::ArrayRef<int64_t> Update) {
  int64_t Last = 0;
  for (size_t I = 0; I < Ends.size(); ++I)
    Last = std::max(Last, Ends[I] + Update[I]);
  return Last;
}

int64_t foretrace::pipelineTimeOfSteps(const Schedule &S,
                                       ActionDuration Duration,
                                       llvm::ArrayRef<int64_t> Update) {
  EndsOfStages Runs(S, Duration);
  Rendezvous<EndsOfStages> Engine(Runs, Runs.size());
  [[maybe_unused]] const bool Ended = Engine.run();
  assert(Ended && "a schedule that was verified deadlocks");
  return withUpdates(Runs.Ends, Update);
}

static std::vector<StageSteps> stepsOf(const Schedule &S,
                                       ActionDuration Duration) {
  std::vector<StageSteps> Stages;
  for (int64_t Stage = 0; Stage < S.Stages; ++Stage) {
    auto Of = [&](ActionKind Kind, int64_t Peer) {
      Action A;
      A.Kind = Kind;
      A.Peer = Peer;
      return Duration(Stage, A);
    };
    Stages.push_back(
        {Of(ActionKind::Forward, 0), Of(ActionKind::Backward, 0),
         Stage + 1 < S.Stages ? Of(ActionKind::SendForward, Stage + 1) : 0,
         Stage > 0 ? Of(ActionKind::SendBackward, Stage - 1) : 0});
  }
  return Stages;
}

/// A stage runs as many forward steps as stages follow it, then a forward and a
/// backward step in turn, as long as there are micro-batches. In round k, the
/// forward step waits for that of the stage before in round k - 1, and the
/// backward step for that of the stage after in round k.
static int64_t oneFOneB(const Schedule &S, ActionDuration Duration,
                        llvm::ArrayRef<int64_t> Update) {
  const std::vector<StageSteps> Of = stepsOf(S, Duration);
  const size_t Stages = Of.size();
  std::vector<int64_t> Ends(Stages), LastForward(Stages), Ahead(Stages);
  // Ends of the forward steps of the stage before, by micro-batch.
  std::vector<int64_t> Sent(
      static_cast<size_t>(std::min(S.Stages, S.MicroBatches)));
  for (size_t I = 0; I < Stages; ++I) {
    Ahead[I] = std::min(S.Stages - 1 - static_cast<int64_t>(I), S.MicroBatches);
    if (I > 0)
      LastForward[I - 1] =
          Ahead[I - 1] == 0 ? 0 : Sent[static_cast<size_t>(Ahead[I - 1]) - 1];
    const int64_t Hop = I == 0 ? 0 : Of[I - 1].ToNext;
    for (int64_t M = 0; M < Ahead[I]; ++M) {
      int64_t &At = Sent[static_cast<size_t>(M)];
      At = Ends[I] = std::max(At + Hop, Ends[I]) + Of[I].Forward;
    }
  }
  for (int64_t Round = 0; Round < S.MicroBatches; ++Round) {
    int64_t Back = 0; // of the stage after
    for (size_t I = Stages; I-- > 0;) {
      int64_t Now = Ends[I];
      if (Ahead[I] + Round < S.MicroBatches) {
        if (I > 0)
          Now = std::max(Now, LastForward[I - 1] + Of[I - 1].ToNext);
        LastForward[I] = Now += Of[I].Forward;
      }
      if (I + 1 < Stages)
        Now = std::max(Now, Back + Of[I + 1].ToPrevious);
      Ends[I] = Back = Now + Of[I].Backward;
    }
  }
  return withUpdates(Ends, Update);
}

/// The time in which the slowest stage runs a micro-batch through its chunks.
static int64_t slowestOf(const Schedule &S, ActionDuration Duration) {
  int64_t Most = 0;
  for (int64_t Stage = 0; Stage < S.Stages; ++Stage) {
    int64_t Sum = 0;
    for (int64_t Chunk = 0; Chunk < S.Chunks; ++Chunk) {
      Action A;
      A.Chunk = Chunk;
      for (const ActionKind Kind :
           {ActionKind::Forward, ActionKind::Backward}) {
        A.Kind = Kind;
        Sum += Duration(Stage, A);
      }
    }
    Most = std::max(Most, Sum);
  }
  // Only half of them pass through each copy of the model.
  return S.Placement == PlacementKind::Bidirectional ? Most / 2 : Most;
}

PipelineTimer::PipelineTimer() = default;
PipelineTimer::PipelineTimer(PipelineTimer &&) noexcept = default;
PipelineTimer &PipelineTimer::operator=(PipelineTimer &&) noexcept = default;
PipelineTimer::~PipelineTimer() = default;

/// Returns whether the steps of \p S are few enough to keep.
static bool isKept(const Schedule &S) {
  constexpr int64_t MostSteps = int64_t(1) << 20;
  return S.steps() <= MostSteps / S.Stages;
}

const FlatSchedule *PipelineTimer::flat(const Schedule &S,
                                        int64_t MicroBatches) {
  constexpr size_t MostKept = 256;
  if (!isKept(S))
    return nullptr;
  if (Known.size() >= MostKept)
    Known.clear();
  std::unique_ptr<FlatSchedule> &Flat =
      Known[{S.Kind, S.Stages, S.Chunks, MicroBatches, S.Group}];
  if (!Flat) {
    Schedule Of = S;
    Of.MicroBatches = MicroBatches;
    Flat = std::make_unique<FlatSchedule>(Of);
  }
  return Flat.get();
}

int64_t PipelineTimer::timeOfSteps(const Schedule &S, ActionDuration Duration,
                                   llvm::ArrayRef<int64_t> Update) {
  const FlatSchedule *Flat = flat(S, S.MicroBatches);
  return Flat ? withUpdates(Flat->run(Flat->durations(Duration)), Update)
              : pipelineTimeOfSteps(S, Duration, Update);
}

/// Returns the times of \p S by those of few micro-batches, of programs whose
/// slowest stages take \p Slowest: \p Run runs a schedule, for all of them.
static std::vector<int64_t>
extrapolate(const Schedule &S, llvm::ArrayRef<int64_t> Slowest,
            llvm::function_ref<std::vector<int64_t>(const Schedule &)> Run) {
  const int64_t Period = periodOf(S);
  Schedule Few = foldMicroBatches(S);
  std::vector<std::optional<int64_t>> Found(Slowest.size());
  auto RunFew = [&](int64_t MicroBatches) {
    Few.MicroBatches = MicroBatches;
    return Run(Few);
  };
  // Three runs of few micro-batches must be less work than one of all.
  for (int64_t N = Few.MicroBatches; N + Period < S.MicroBatches / 3 &&
                                     llvm::is_contained(Found, std::nullopt);
       N += N - N % Period) {
    const std::vector<int64_t> First = RunFew(N), Next = RunFew(N + Period);
    // In the end the time grows by at least the slowest stage's.
    auto IsEven = [&](size_t I) {
      return !Found[I] && Next[I] - First[I] >= Slowest[I] * Period;
    };
    const auto All = llvm::seq<size_t>(0, Found.size());
    if (llvm::none_of(All, IsEven))
      continue;
    const std::vector<int64_t> Last = RunFew(N + 2 * Period);
    for (const size_t I : All)
      if (const int64_t Growth = Next[I] - First[I];
          IsEven(I) && Last[I] - First[I] == 2 * Growth)
        Found[I] = First[I] + (S.MicroBatches - N) / Period * Growth;
  }
  std::vector<int64_t> Whole;
  if (llvm::is_contained(Found, std::nullopt))
    Whole = Run(S);
  std::vector<int64_t> Times;
  for (const auto &[I, Of] : llvm::enumerate(Found))
    Times.push_back(Of ? *Of : Whole[I]);
  return Times;
}

int64_t PipelineTimer::time(const Schedule &S, ActionDuration Duration,
                            llvm::ArrayRef<int64_t> Update) {
  if (S.Kind == ScheduleKind::OneFOneB && S.Stages > 1)
    return oneFOneB(S, Duration, Update);
  return extrapolate(S, slowestOf(S, Duration),
                     [&](const Schedule &Few) {
                       return std::vector<int64_t>{
                           timeOfSteps(Few, Duration, Update)};
                     })
      .front();
}

PipelineRun PipelineTimer::prepare(const Schedule &S, ActionDuration Duration,
                                   llvm::ArrayRef<int64_t> Update) {
  PipelineRun Run;
  if ((S.Kind != ScheduleKind::OneFOneB || S.Stages == 1) && isKept(S)) {
    Run.Durations = flat(S, fewMicroBatches(S))->durations(Duration);
    Run.Update = Update.vec();
    Run.Slowest = slowestOf(S, Duration);
    // No more than all steps and messages one after the other.
    const double Most = static_cast<double>(*llvm::max_element(Run.Durations)) *
                            static_cast<double>(4 * S.steps() * S.Stages) +
                        static_cast<double>(*llvm::max_element(Update));
    if (Most < LaneTimes::Exact)
      return Run;
  }
  Run.Total = time(S, Duration, Update);
  return Run;
}

std::vector<int64_t>
PipelineTimer::timesOfSteps(const Schedule &S,
                            llvm::ArrayRef<PipelineRun *> Runs) {
  const FlatSchedule &Flat = *flat(S, S.MicroBatches);
  std::vector<int64_t> Totals;
  for (; !Runs.empty();
       Runs = Runs.drop_front(std::min(LaneTimes::Count, Runs.size()))) {
    const auto Some = Runs.take_front(LaneTimes::Count);
    std::vector<LaneTimes> Times(Some.front()->Durations.size());
    for (const auto &[Lane, Run] : llvm::enumerate(Some))
      for (const auto &[To, Duration] : llvm::zip_equal(Times, Run->Durations))
        To.Of[Lane] = static_cast<double>(Duration);
    const std::vector<LaneTimes> Ends = Flat.run(Times);
    for (const auto &[Lane, Run] : llvm::enumerate(Some)) {
      int64_t Last = 0;
      for (const auto &[End, Update] : llvm::zip_equal(Ends, Run->Update))
        Last = std::max(Last, static_cast<int64_t>(End.Of[Lane]) + Update);
      Totals.push_back(Last);
    }
  }
  return Totals;
}

void PipelineTimer::finish(const Schedule &S,
                           llvm::ArrayRef<PipelineRun *> Runs) {
  std::vector<int64_t> Slowest;
  for (const PipelineRun *Run : Runs)
    Slowest.push_back(Run->Slowest);
  const std::vector<int64_t> Totals = extrapolate(
      S, Slowest, [&](const Schedule &Few) { return timesOfSteps(Few, Runs); });
  for (const auto &[Run, Total] : llvm::zip_equal(Runs, Totals))
    Run->Total = Total;
}

int64_t foretrace::pipelineTime(const Schedule &S, ActionDuration Duration,
                                llvm::ArrayRef<int64_t> Update) {
  return PipelineTimer().time(S, Duration, Update);
}
