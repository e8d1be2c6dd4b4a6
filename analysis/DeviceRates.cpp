// SPDX-License-Identifier: Apache-2.0
#include "analysis/DeviceRates.h"
#include "analysis/Figures.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::ir;

static constexpr int64_t Second = 1000000000;

DeviceRates::DeviceRates(const Program &P, int64_t Time)
    : World(*P.Spec.Parallel.World), Time(Time) {
  const DeviceSpec Device = P.Spec.rooflineDevice();
  for (const TypeKind Type : P.Spec.computeTypes()) {
    const DeviceSpec::Peak &Of = DeviceSpec::peakOf(Type);
    const Located<FlopRate> &Rate = Device.*Of.Member;
    if (Peak != 0 && !Rate.isPresent())
      continue; // of some layers only
    if (!Rate.isPresent() || *Rate > Peak)
      Key = Of.Key;
    Peak = std::max(Peak, Rate.isPresent() ? *Rate : 0);
  }
}

/// Computes the rate without a product beyond 128 bits.
__int128 DeviceRates::perSecond(__int128 OfAll) const {
  return (OfAll / World * Second + OfAll % World * Second / World) / Time;
}

__int128 DeviceRates::shareOfPeak(__int128 OfAll) const {
  return millionths(perSecond(OfAll), Peak);
}

__int128 DeviceRates::leastTime(__int128 OfAll) const {
  return (OfAll / World * Second + Peak - 1) / Peak;
}

/// A trillion tokens by the 3.6 trillion ns of an hour is 5 / 18.
__int128 DeviceRates::hoursOfTrillion(__int128 Tokens) const {
  return static_cast<__int128>(World) * Time * 5 / (Tokens * 18);
}
