// SPDX-License-Identifier: Apache-2.0
//
// Durations of the actions of a schedule, of a program with costs.
#ifndef FORETRACE_ANALYSIS_STEPTIMES_H
#define FORETRACE_ANALYSIS_STEPTIMES_H

#include "analysis/CollectiveTimes.h"
#include "analysis/HostTimeline.h"
#include <map>
#include <optional>

namespace foretrace {

/// Communication of the ops of a step.
struct CommunicationTime {
  Nanoseconds Exposed, Hidden;
};
/// Returns that of a step of kind \p Step for all of \p Layers.
CommunicationTime communicationOf(const ir::Program &P,
                                  const ir::LayerSequence &Layers,
                                  ir::ActionKind Step);
/// Returns that of all ops of \p B, which runs once an iteration.
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
  /// \p Links, of \p P, keep places of groups between uses; made if not given.
  explicit StepTimes(const ir::Program &P, Waits HostWaits = Waits::ForCounts,
                     CollectiveTimes *Links = nullptr);
  StepTimes(const StepTimes &) = delete;
  StepTimes &operator=(const StepTimes &) = delete;

  int64_t operator()(int64_t Stage, const ir::Action &A);
  /// Returns the time of a step of kind \p Step for all of \p Layers.
  Nanoseconds ofStep(const ir::LayerSequence &Layers, ir::ActionKind Step);

  /// Returns the time of a message to a rank \p Distance stages later.
  Nanoseconds ofMessage(Bytes Size, int64_t Distance);

private:
  const ir::Program &P;
  const Waits HostWaits;
  std::optional<CollectiveTimes> Own;
  CollectiveTimes *Links = nullptr; ///< of `cost estimate`
  std::map<std::pair<unsigned, ir::ActionKind>, HostTimeline>
      Kernels; ///< by block
  std::map<std::pair<const ir::LayerSequence *, ir::ActionKind>, int64_t> Known;
  std::map<std::pair<int64_t, int64_t>, Nanoseconds>
      Messages; ///< by bytes, distance
};

} // namespace foretrace

#endif
