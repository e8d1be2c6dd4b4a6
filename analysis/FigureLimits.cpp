// SPDX-License-Identifier: Apache-2.0
#include "analysis/FigureLimits.h"
#include "analysis/DeviceMemory.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace foretrace;
using namespace foretrace::ir;

using Bound = FigureLimit::Bound;

static std::optional<FigureLimit> limitOfPeak(const Program &P) {
  const std::optional<DeviceMemory> Memory = deviceMemoryOf(P.Spec);
  if (!Memory)
    return std::nullopt;
  return FigureLimit{Bound::AtMost, Memory->usable(),
                     "tensors have no more than the memory of the device "
                     "without what is reserved"};
}

std::optional<FigureLimit> foretrace::limitOf(FigureId Id, const Program &P) {
  switch (Id) {
  case FigureId::Peak:
    return limitOfPeak(P);
#define FIGURE_LIMIT(FIGURE, BOUND, MILLIONTHS, WHY)                           \
  case FigureId::FIGURE:                                                       \
    return FigureLimit{Bound::BOUND, MILLIONTHS, WHY};
#include "analysis/FigureLimits.def"
  default:
    return std::nullopt;
  }
}

std::optional<FigureLimit> foretrace::limitOfCrossNodeShare(const Program &P) {
  if (!P.Spec.Cluster)
    return std::nullopt;
  const ClusterSpec &C = *P.Spec.Cluster;
  const auto Outer = llvm::find_if(C.Tiers, [&](const TierSpec &T) {
    return *T.Devices > *C.DevicesPerNode;
  });
  const TierSpec &Inner = C.Tiers.front();
  if (Outer == C.Tiers.end() || Outer == C.Tiers.begin() ||
      !Inner.Bandwidth.isPresent() || !Outer->Bandwidth.isPresent())
    return std::nullopt;
  const int64_t Within = *Inner.Bandwidth, Between = *Outer->Bandwidth;
  const auto Share = static_cast<int64_t>(
      millionths(Between, static_cast<__int128>(Within) + Between));
  return FigureLimit{
      Bound::AtMost, Share,
      llvm::formatv("with more, links between nodes ({0:f0} GB/s per device) "
                    "are busy for longer than those within a node ({1:f0} "
                    "GB/s)",
                    static_cast<double>(Between) / 1e9,
                    static_cast<double>(Within) / 1e9)};
}
