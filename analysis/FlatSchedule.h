// SPDX-License-Identifier: Apache-2.0
//
// A schedule as a flat list of calls, to run it with many durations.
#pragma once

#include "analysis/PipelineTime.h"
#include <array>

namespace foretrace {

/// Times of several runs of one schedule. Below 2^53 ns they are exact, and
/// processors take the larger of two at once.
struct LaneTimes {
  static constexpr size_t Count = 8;
  static constexpr double Exact = 0x1p53;
  std::array<double, Count> Of = {};
};

/// The calls of all stages in an order in which they can end, whatever their
/// durations: a call that waits ends after the calls it waits for have begun.
class FlatSchedule {
public:
  explicit FlatSchedule(const ir::Schedule &S);

  /// Returns the times of all actions that have one, by stage, kind, chunk and
  /// peer: schedules that differ in micro-batches alone have the same ones.
  std::vector<int64_t> durations(ir::ActionDuration Duration) const;
  /// Returns the end of the last call of each stage, given the durations.
  std::vector<int64_t> run(llvm::ArrayRef<int64_t> Times) const {
    return run(Times, nullptr);
  }
  /// Returns these ends for several runs at a time.
  std::vector<LaneTimes> run(llvm::ArrayRef<LaneTimes> Times) const {
    return run(Times, nullptr);
  }
  /// Returns the critical path until each stage is done and has run its \p
  /// Update.
  PipelinePath path(llvm::ArrayRef<int64_t> Times,
                    llvm::ArrayRef<int64_t> Update) const;

private:
  static constexpr uint32_t None = UINT32_MAX;
  struct Part {
    uint32_t Duration; ///< of its action; of a send, until it arrives
    uint32_t Meeting;  ///< None if no other rank takes part
    bool Waits, IsMessage;
  };
  struct Call {
    uint32_t Stage;
    uint32_t First, End; ///< of its parts
    uint32_t Next;       ///< the next call of the stage; itself if it is last
  };
  /// The waits of a run.
  struct Trace {
    /// By meeting: the call that made it the latest, and the part of it.
    std::vector<std::pair<uint32_t, uint32_t>> Latest;
    /// By call: the meeting that it waited for longest, or None.
    std::vector<uint32_t> WaitedFor;
  };

  template <typename TimeT>
  std::vector<TimeT> run(llvm::ArrayRef<TimeT> Times, Trace *Kept) const;
  template <typename TimeT>
  void enter(const Call &C, const TimeT &Clock, llvm::ArrayRef<TimeT> Times,
             std::vector<TimeT> &Starts, Trace *Kept) const;

  std::vector<Part> Parts;
  std::vector<Call> Calls;
  std::vector<uint32_t> Begins; ///< by stage: its first call
  uint32_t Meetings = 0;
  std::vector<std::pair<int64_t, ir::Action>>
      Durations; ///< by index: stage, action
};

} // namespace foretrace
