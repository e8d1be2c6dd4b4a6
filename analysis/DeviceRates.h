// SPDX-License-Identifier: Apache-2.0
//
// Rates of the devices of a job in an iteration of a certain time, and shares
// of their peak rates (MFU, HFU).
#pragma once

#include "ir/model/Program.h"

namespace foretrace {

class DeviceRates {
public:
  /// \p Time is that of an iteration, in ns.
  DeviceRates(const ir::Program &P, int64_t Time);

  /// Returns the amount per device and second if all devices together do \p
  /// OfAll in an iteration; rounded down.
  __int128 perSecond(__int128 OfAll) const;
  bool isPeakKnown() const { return Peak != 0; }
  /// Returns the key of the peak rate: the highest one that the job uses.
  llvm::StringRef key() const { return Key; }
  /// Returns what a share of the peak rate is called: `MFU of peak_fp8`, or
  /// `MFU` if the key is `peak_flops`, the rate of 16-bit types.
  std::string nameOfShare(llvm::StringRef Share) const {
    return (Key == "peak_flops" ? Share : Share + " of " + Key).str();
  }
  /// Returns the rate of \p OfAll FLOPs in an iteration as a share of the peak
  /// rate, in millionths.
  __int128 shareOfPeak(__int128 OfAll) const;
  /// Returns the time in which devices can do \p OfAll FLOPs at their peak, ns.
  __int128 leastTime(__int128 OfAll) const;
  /// Returns the hours of all devices together for a trillion tokens, if an
  /// iteration has \p Tokens; rounded down.
  __int128 hoursOfTrillion(__int128 Tokens) const;
  bool isTooFast(__int128 OfAll) const { return Time < leastTime(OfAll); }

private:
  const int64_t World, Time;
  int64_t Peak = 0;
  llvm::StringRef Key;
};

} // namespace foretrace
