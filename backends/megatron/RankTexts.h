// SPDX-License-Identifier: Apache-2.0
//
// The text of every rank's trace. Ranks of one stage log the same rows but for
// their number, so rows are made into text once a stage.
#pragma once

#include "backends/OutputSet.h"
#include "backends/megatron/Replay.h"
#include <mutex>

namespace foretrace::megatron {

/// Writes one iteration of any rank. Several threads may do so at once.
class RankTexts {
public:
  /// \p Times may be null. A stage is made into text when its first rank is
  /// written.
  RankTexts(const Skeleton &Trace, const IterationReplay *Times,
            int64_t Stages);

  /// The trace of \p Rank, which is of \p Stage.
  void write(int64_t Rank, int64_t Stage, OutputStream &OS);

  /// The text that is kept of all stages, in bytes. Where one has more than its
  /// share of them, its rows are made into text for each of its ranks.
  static constexpr size_t MaxKept = size_t(256) << 20;

private:
  /// The rows of a stage, each but for its `rank:N`.
  struct Shared {
    std::once_flag IsMade;
    std::string Text;
    std::vector<size_t> Ends; ///< of rows in Text; none if it is not kept
  };

  using Visitor = llvm::function_ref<bool(const TraceRow &, const RowTimes *)>;
  void forEachRow(int64_t Stage, Visitor Visit) const;
  void make(int64_t Stage, Shared &To) const;

  const Skeleton &Trace;
  const IterationReplay *const Times;
  std::vector<Shared> Stages;
};

} // namespace foretrace::megatron
