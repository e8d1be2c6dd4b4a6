// SPDX-License-Identifier: Apache-2.0
//
// Host and device: the host launches one kernel after the other, and a kernel
// starts once it is launched and the one before has ended. Where the host needs
// a result it waits for the device.
#pragma once

#include "lang/Quantity.h"
#include <array>
#include <optional>

namespace foretrace {

/// When host and device are free after some kernels, by when they were before:
/// a matrix over (max, +), so that repeated kernels cost a logarithm.
class HostTimeline {
public:
  enum Processor : unsigned char { Host, Device };

  /// Makes a timeline without kernels.
  HostTimeline();

  /// Adds a kernel that takes \p Time, and the host \p Launch to launch.
  void launch(Nanoseconds Time, Nanoseconds Launch);
  /// Lets the host wait for the device.
  void synchronize();
  /// Adds the kernels of \p Next.
  void append(const HostTimeline &Next);
  /// Returns the timeline of these kernels, \p Count times in a row.
  HostTimeline repeated(int64_t Count) const;

  /// Returns when both are free, if both are at 0.
  Nanoseconds time() const;

private:
  using Row = std::array<std::optional<Nanoseconds>, 2>; ///< none: not at all

  /// After[A][B]: A is free this long after B was, at least.
  std::array<Row, 2> After;
};

} // namespace foretrace
