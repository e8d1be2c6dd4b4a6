// SPDX-License-Identifier: Apache-2.0
//
// Durations of the actions of a schedule, of a program with costs.
#pragma once

#include "analysis/CollectiveTimes.h"
#include "analysis/HostTimeline.h"
#include <map>
#include <optional>

namespace foretrace {

/// Communication of the ops of a step.
struct CommunicationTime {
  Nanoseconds Exposed, Hidden;
};
/// Returns the communication time of a step of kind \p Step for all \p Layers.
CommunicationTime communicationOf(const ir::Program &P,
                                  const ir::LayerSequence &Layers,
                                  ir::ActionKind Step);
/// Returns the communication time of all ops of \p B, run once per iteration.
CommunicationTime communicationOf(const ir::Block &B);
/// Returns the time of \p B, without what is hidden of collectives.
Nanoseconds updateTime(const ir::Block &B);

/// Returns the time of each action in ns; at most 2^63. With `cost estimate` a
/// message takes time, which is that of its send, and a step no less than the
/// host needs to launch its kernels; otherwise only the ops of steps do.
class StepTimes {
public:
  /// For what the host waits: for the counts of tokens of a layer of experts,
  /// or, as with traces that log when exchanges end, for all exchanges.
  enum class Waits : unsigned char { ForCounts, ForExchanges };
  /// \p Places are the collective times of \p P; made if not given.
  explicit StepTimes(const ir::Program &P, Waits HostWaits = Waits::ForCounts,
                     CollectiveTimes *Places = nullptr);
  StepTimes(const StepTimes &) = delete;
  StepTimes &operator=(const StepTimes &) = delete;

  /// Starts again after the durations of ops, the split over stages or the
  /// places of groups have changed.
  void restart(CollectiveTimes *Places);

  int64_t operator()(int64_t Stage, const ir::Action &A);
  /// Returns the time of a step of kind \p Step for all of \p Layers.
  Nanoseconds ofStep(const ir::LayerSequence &Layers, ir::ActionKind Step);

  /// Returns the time of a message to a rank \p Distance stages later.
  Nanoseconds ofMessage(Bytes Size, int64_t Distance);

private:
  const ir::Program &P;
  const Waits HostWaits;
  /// The ops of a block that a step runs, in order.
  struct Launches {
    std::vector<const ir::Op *> Ops;
    bool NeedsCounts;
  };
  using BlockStep = std::pair<unsigned, ir::ActionKind>;
  const Launches &launchesOf(ir::BlockId Block, ir::ActionKind Step);
  HostTimeline kernelsOf(const Launches &Of, Nanoseconds Launch) const;

  std::optional<CollectiveTimes> Own;
  CollectiveTimes *Links = nullptr; ///< of `cost estimate`
  std::map<BlockStep, Launches> Order;
  std::map<BlockStep, HostTimeline> Kernels;
  std::map<std::pair<const ir::LayerSequence *, ir::ActionKind>, int64_t> Known;
  std::map<std::pair<int64_t, int64_t>, Nanoseconds>
      Messages; ///< by bytes, distance
};

} // namespace foretrace
