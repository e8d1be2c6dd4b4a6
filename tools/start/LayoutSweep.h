// SPDX-License-Identifier: Apache-2.0
//
// Sweeps over layouts that have the same options. Private to tools/start.
#pragma once

#include "tools/start/LayoutSearch.h"

namespace foretrace::start {

/// Layouts that have the same options.
struct Region {
  std::vector<size_t> Options; ///< by choice
  /// The values of all numbers, a row for each layout; without rows all
  /// combinations.
  std::vector<std::vector<size_t>> Rows;
};

/// Result of a sweep over a region.
struct RegionResult {
  std::vector<FoundLayout> Best;
  int64_t Accepted = 0, Legal = 0;
};

/// How many layouts are kept of a region.
inline constexpr size_t KeptLayouts = 4;

/// Sweeps over regions of one job for the layouts with the least \c Metric of
/// those that satisfy \c Where, which may be empty.
struct LayoutSweep {
  const OpenJob &Job;
  const LayoutAxes &Axes;
  const std::string Where, Metric;

  /// An error says why the region cannot be swept, or, if \p ReportsRefusal,
  /// why none of its layouts is legal.
  llvm::Expected<RegionResult> run(Region R, bool ReportsRefusal = false) const;
  /// Sweeps over each region, several at a time; a region that cannot be swept
  /// has no layouts.
  std::vector<RegionResult> runAll(llvm::ArrayRef<Region> Of) const;

private:
  std::vector<std::string> axesFor(Region &R, const FoundLayout &Fixed) const;
};

/// Sets what \p L sets by its options and values.
void writeOverrides(const LayoutAxes &Axes, FoundLayout &L);
/// Returns whether no two of \p Options set a key to different values.
bool isConsistent(const LayoutAxes &Axes, llvm::ArrayRef<size_t> Options);
/// Returns layouts with any other value of one number; or with any other option
/// of one choice and, unless that is a list of layers or a schedule, the next
/// larger or smaller value of one number at most.
std::vector<Region> regionsAround(const LayoutAxes &Axes, const FoundLayout &L);

} // namespace foretrace::start
