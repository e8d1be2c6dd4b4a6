// SPDX-License-Identifier: Apache-2.0
//
// Counts of ranks by their position in a domain of a cluster.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace foretrace {

/// Positions from 0, \p Step apart.
struct PlaceRow {
  int64_t Step, Count;
};

/// Returns how many sums of \p First and one position of each row are among the
/// first \p Wanted positions of their domain of \p Size devices. The time grows
/// with the positions of all rows except the longest, until these repeat a
/// position in a domain. Rows that continue each other count as one.
__int128 countPlaces(llvm::SmallVector<PlaceRow, 4> Rows, int64_t First,
                     int64_t Wanted, int64_t Size);

} // namespace foretrace
