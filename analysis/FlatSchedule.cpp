// SPDX-License-Identifier: Apache-2.0
#include "analysis/FlatSchedule.h"
#include <algorithm>
#include <map>
#include <tuple>

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// Runs stages without durations and notes who ends a call.
struct OrderOfCalls : StageRuns {
  using StageRuns::StageRuns;
  std::vector<uint32_t> Stages;

  void end(size_t I, int64_t, int64_t) {
    Stages.push_back(static_cast<uint32_t>(I));
  }
};

} // namespace

FlatSchedule::FlatSchedule(const Schedule &S) {
  auto NoTime = [](int64_t, const Action &) { return int64_t(0); };
  OrderOfCalls Order(S, NoTime);
  Rendezvous<OrderOfCalls> Engine(Order, Order.size());
  [[maybe_unused]] const bool Ended = Engine.run();
  assert(Ended && "a schedule that was verified deadlocks");
  using Doing = std::tuple<int64_t, ActionKind, int64_t, int64_t>;
  std::map<Doing, uint32_t> Known;
  StageRuns Runs(S, NoTime);
  std::vector<uint32_t> Last(Runs.size(), None);
  Begins.resize(Runs.size());
  for (const uint32_t Stage : Order.Stages) {
    Runs.begin(Stage);
    const auto Index = static_cast<uint32_t>(Calls.size());
    Call C{Stage, static_cast<uint32_t>(Parts.size()), 0, Index};
    for (size_t I = 0; I < Runs.parts(Stage); ++I) {
      const Action &A = Runs.actions(Stage)[I];
      const Meeting M = Runs.meeting(Stage, I);
      const auto [It, IsNew] =
          Known.try_emplace({Stage, A.Kind, A.Chunk, A.Peer},
                            static_cast<uint32_t>(Durations.size()));
      if (IsNew)
        Durations.push_back({Stage, A});
      const bool Meets = M.Members > 1;
      const auto Id = Meets ? static_cast<uint32_t>(M.Id) : None;
      Parts.push_back({It->second, Id, M.Waits, isMessage(A.Kind)});
      if (Meets)
        Meetings = std::max(Meetings, Id + 1);
    }
    C.End = static_cast<uint32_t>(Parts.size());
    (Last[Stage] == None ? Begins[Stage] : Calls[Last[Stage]].Next) = Index;
    Last[Stage] = Index;
    Calls.push_back(C);
  }
  std::vector<std::pair<int64_t, Action>> Ordered;
  std::vector<uint32_t> Place(Durations.size());
  for (const auto &[Of, Index] : Known) {
    Place[Index] = static_cast<uint32_t>(Ordered.size());
    Ordered.push_back(Durations[Index]);
  }
  Durations = std::move(Ordered);
  for (Part &P : Parts)
    P.Duration = Place[P.Duration];
}

static void add(int64_t &To, int64_t More) { To += More; }
static void add(LaneTimes &To, const LaneTimes &More) {
  for (size_t I = 0; I < LaneTimes::Count; ++I)
    To.Of[I] += More.Of[I];
}

/// Raises \p To to \p By. Returns whether a single number has changed.
static bool raise(int64_t &To, int64_t By) {
  const bool IsLater = By > To;
  To = IsLater ? By : To;
  return IsLater;
}
static bool raise(LaneTimes &To, const LaneTimes &By) {
  for (size_t I = 0; I < LaneTimes::Count; ++I)
    To.Of[I] = std::max(To.Of[I], By.Of[I]);
  return false;
}

std::vector<int64_t> FlatSchedule::durations(ActionDuration Duration) const {
  std::vector<int64_t> Times;
  Times.reserve(Durations.size());
  for (const auto &[Stage, A] : Durations)
    Times.push_back(Duration(Stage, A));
  return Times;
}

/// Members of a meeting arrive when their call begins, as in Rendezvous.
template <typename TimeT>
void FlatSchedule::enter(const Call &C, const TimeT &Clock,
                         llvm::ArrayRef<TimeT> Times,
                         std::vector<TimeT> &Starts, Trace *Kept) const {
  for (uint32_t I = C.First; I < C.End; ++I) {
    const Part &P = Parts[I];
    if (P.Meeting == None)
      continue;
    TimeT Arrival = Clock;
    if (!P.Waits)
      add(Arrival, Times[P.Duration]);
    if (raise(Starts[P.Meeting], Arrival) && Kept)
      Kept->Latest[P.Meeting] = {static_cast<uint32_t>(&C - Calls.data()), I};
  }
}

template <typename TimeT>
std::vector<TimeT> FlatSchedule::run(llvm::ArrayRef<TimeT> Times,
                                     Trace *Kept) const {
  if (Kept)
    *Kept = {std::vector<std::pair<uint32_t, uint32_t>>(Meetings, {None, 0}),
             std::vector<uint32_t>(Calls.size(), None)};
  std::vector<TimeT> Clocks(Begins.size()), Starts(Meetings);
  for (const uint32_t First : Begins)
    enter(Calls[First], TimeT(), Times, Starts, Kept);
  for (const Call &C : Calls) {
    TimeT &Clock = Clocks[C.Stage];
    TimeT Last = Clock;
    uint32_t WaitedFor = None;
    for (uint32_t I = C.First; I < C.End; ++I) {
      const Part &P = Parts[I];
      if (P.Meeting == None) {
        if (!P.IsMessage)
          add(Clock, Times[P.Duration]);
      } else if (P.Waits && raise(Last, Starts[P.Meeting])) {
        WaitedFor = P.Meeting;
      }
    }
    if (raise(Clock, Last) && Kept)
      Kept->WaitedFor[static_cast<size_t>(&C - Calls.data())] = WaitedFor;
    const Call &Next = Calls[C.Next];
    if (&Next != &C)
      enter(Next, Clock, Times, Starts, Kept);
  }
  return Clocks;
}

template std::vector<LaneTimes>
FlatSchedule::run(llvm::ArrayRef<LaneTimes> Times, Trace *Kept) const;

PipelinePath FlatSchedule::path(llvm::ArrayRef<int64_t> Times,
                                llvm::ArrayRef<int64_t> Update) const {
  Trace Kept;
  const std::vector<int64_t> Ends = run(Times, &Kept);
  size_t Last = 0;
  for (size_t I = 0; I < Ends.size(); ++I)
    if (Ends[I] + Update[I] > Ends[Last] + Update[Last])
      Last = I;
  std::vector<uint32_t> Before(Calls.size(), None); // on the same stage
  uint32_t At = None;
  for (uint32_t I = 0; I < Calls.size(); ++I)
    if (Calls[I].Next != I)
      Before[Calls[I].Next] = I;
    else if (Calls[I].Stage == Last)
      At = I;
  PipelinePath Path;
  Path.Last = static_cast<int64_t>(Last);
  auto Add = [&](const Part &P) {
    const auto &[Stage, A] = Durations[P.Duration];
    ++Path.Steps[{Stage, A}];
  };
  while (At != None) {
    if (const uint32_t Meeting = Kept.WaitedFor[At]; Meeting != None) {
      const auto [Call, Part] = Kept.Latest[Meeting];
      Add(Parts[Part]);
      At = Call;
    } else {
      for (uint32_t I = Calls[At].First; I < Calls[At].End; ++I)
        if (Parts[I].Meeting == None && !Parts[I].IsMessage)
          Add(Parts[I]);
    }
    At = Before[At];
  }
  return Path;
}
