// SPDX-License-Identifier: Apache-2.0
//
// Tokens of the experts of each rank, and the bytes that its rank exchanges,
// if routing is uneven. Other analyses count the most loaded rank, or the mean
// of all ranks.
#pragma once

#include "analysis/ExpertPlacement.h"
#include "analysis/Flows.h"
#include "ir/model/Routing.h"

namespace foretrace {

/// Returns the ranks of experts with \p Tokens, and of their copies; ep must
/// divide them.
ExpertPlacement placementOf(const ir::Spec &S, const ir::ExpertTokens &Tokens);

/// Returns the loads of ranks by their position along ep, as
/// ExpertPlacement::relativeLoads; nothing if \p R is for another number of
/// experts. They are even if ep does not divide the experts.
std::optional<std::vector<int64_t>> expertLoads(const ir::Spec &S,
                                                const ir::Routing &R);

/// Returns the loads of ranks by their position along ep, in units of 1 /
/// ir::MeanLoad of the mean; empty with balanced routing.
std::vector<int64_t> expertLoads(const ir::Program &P);

/// Bytes that a rank exchanges with others for its experts. Ranks have as many
/// tokens each, so the bytes depend on the experts alone.
struct RankExchange {
  __int128 Sent = 0, Received = 0; ///< without its own tokens
};

/// Returns the exchanges of the ranks of stage kind \p Stage in the period of
/// \p Of, parallel to expertLoads; none if the stage exchanges no such tokens.
std::vector<RankExchange> expertExchanges(FlowCounter &Of, unsigned Stage);

} // namespace foretrace
