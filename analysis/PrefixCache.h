// SPDX-License-Identifier: Apache-2.0
//
// Hits of a prefix cache, by an exact replay of a trace.
#pragma once

#include "ir/model/RequestTrace.h"

namespace foretrace {

/// Totals of a replay; blocks are those of the trace's ids.
struct PrefixHits {
  int64_t Blocks = 0;     ///< of all prompts
  int64_t HitBlocks = 0;  ///< in the cache when their request arrives
  int64_t HitTokens = 0;  ///< without the last token of a prompt
  int64_t FullHits = 0;   ///< requests all of whose blocks are
  int64_t Evictions = 0;  ///< blocks that others displaced
  int64_t BlocksLeft = 0; ///< in the cache at the end
};

/// Replays the requests in order, with a cache for nothing else that has room
/// for \p Capacity blocks. Of a request, the leading blocks in the cache hit.
/// Then all are touched from the last to the first, and the least recently used
/// ones leave until the others fit.
PrefixHits replayPrefixes(const ir::RequestTrace &Trace, int64_t Capacity);

} // namespace foretrace
