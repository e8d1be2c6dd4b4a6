// SPDX-License-Identifier: Apache-2.0
//
// Ranks by where in a domain of a cluster they stand.
#ifndef FORETRACE_ANALYSIS_PLACES_H
#define FORETRACE_ANALYSIS_PLACES_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace foretrace {

/// 0 and what follows it, \p Step apart.
struct PlaceRow {
  int64_t Step, Count;
};

/// Of domains of \p Size devices: how many sums of \p First and a place of each
/// row are among the first \p Wanted of their domain. Its time grows with the
/// places of all rows but the longest, as far as these don't come back to the
/// same place of a domain; rows that continue one another are one.
__int128 countPlaces(llvm::SmallVector<PlaceRow, 4> Rows, int64_t First,
                     int64_t Wanted, int64_t Size);

} // namespace foretrace

#endif
