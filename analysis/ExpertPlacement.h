// SPDX-License-Identifier: Apache-2.0
//
// Which ranks hold the experts: in order, or with redundant experts, as EPLB
// decides it (deepseek-ai/EPLB, eplb.py).
#pragma once

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace foretrace {

/// Sizes of a placement. Ranks divide the slots, and groups divide the experts.
struct PlacementSizes {
  int64_t Slots;  ///< experts with all their copies
  int64_t Groups; ///< of the router
  int64_t Nodes, Ranks;
};

/// Copies of experts, and the loads of ranks as exact fractions.
struct ExpertPlacement {
  std::vector<int64_t> Copies;    ///< by expert
  std::vector<llvm::APInt> Loads; ///< by rank, in tokens / Unit
  llvm::APInt Unit;

  /// Returns the load of the busiest rank in tokens, `359/2`.
  std::string busiest() const;
  /// Returns the loads in units of 1 / ir::MeanLoad of their mean, if they have
  /// \p All tokens, rounded down, as slots are rounded up.
  std::vector<int64_t> relativeLoads(__int128 All) const;
};

/// Places experts with \p Tokens, at least 0, of which the copies of an expert
/// have equal parts.
ExpertPlacement placeExperts(llvm::ArrayRef<__int128> Tokens,
                             const PlacementSizes &Of);

/// Places experts without copies on \p Ranks, which divide them, in order.
ExpertPlacement placeInOrder(llvm::ArrayRef<__int128> Tokens, int64_t Ranks);

} // namespace foretrace
