// SPDX-License-Identifier: Apache-2.0
//
// Limits of figures, by which a job is judged at first sight: the memory of the
// device, and rules of thumb with their reasons (analysis/FigureLimits.def).
#pragma once

#include "analysis/Figures.h"

namespace foretrace {

/// A bound of a figure, in the unit of the figure.
struct FigureLimit {
  enum class Bound : unsigned char { AtMost, AtLeast };
  Bound Is;
  int64_t Value;
  std::string Why;

  /// Returns by how much \p Of is within the limit; negative if it is not.
  __int128 margin(__int128 Of) const {
    return Is == Bound::AtMost ? Value - Of : Of - Value;
  }
  bool isKept(__int128 Of) const { return margin(Of) >= 0; }
};

/// Returns the limit of a figure for \p P; nothing if it has none, or if \p P
/// lacks a key that defines it.
std::optional<FigureLimit> limitOf(FigureId Id, const ir::Program &P);

/// Returns the limit of the share of sent bytes that leave their node: with it
/// links between nodes are busy as long as those within nodes. Nothing if
/// there is no cluster, or only one tier.
std::optional<FigureLimit> limitOfCrossNodeShare(const ir::Program &P);

} // namespace foretrace
