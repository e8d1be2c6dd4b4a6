// SPDX-License-Identifier: Apache-2.0
#include "backends/astra/Network.h"
#include "backends/CommandLine.h"
#include "ir/model/OpKinds.h"
#include "lang/diagnostics/Backends.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::astra;

static const TopologyRow &rowOf(TopologyKind K) {
  static constexpr TopologyRow Rows[] = {
#define ASTRA_TOPOLOGY(KIND, NAME, HOPS, NEIGHBOURS, REDUCE, TOALL, AWARE)     \
  {NAME,                                                                       \
   HOPS,                                                                       \
   NEIGHBOURS,                                                                 \
   CollectiveImplementation::REDUCE,                                           \
   CollectiveImplementation::TOALL,                                            \
   CollectiveImplementation::AWARE},
#include "backends/astra/Algorithms.def"
  };
  static constexpr TopologyKind Kinds[] = {
#define ASTRA_TOPOLOGY(KIND, ...) TopologyKind::KIND,
#include "backends/astra/Algorithms.def"
  };
  return Rows[llvm::find(Kinds, K) - std::begin(Kinds)];
}

CollectiveImplementation
NetworkDimension::algorithm(OpKind Collective, NetworkKind Network) const {
  if (Collective != OpKind::AllToAll)
    return Topology->Reduce;
  return Network == NetworkKind::Aware ? Topology->AwareToAll : Topology->ToAll;
}

/// \p Domains are those that \p T joins: a device has a link to each of its
/// neighbours among them, whether the job has ranks there or not.
static NetworkDimension makeDimension(const TierSpec &T, TopologyKind K,
                                      int64_t Domains, int64_t Ranks) {
  NetworkDimension D{&T, &rowOf(K), Ranks, 0, 0};
  const int64_t Links = std::min(D.Topology->Neighbours, Domains - 1);
  D.BytesPerSecond =
      static_cast<double>(*T.Bandwidth) / static_cast<double>(Links);
  D.NanosecondsPerHop =
      static_cast<double>(*T.Latency) / static_cast<double>(D.Topology->Hops);
  return D;
}

std::vector<NetworkDimension>
astra::dimensionsOf(const ClusterSpec &C, int64_t World, NetworkKind Network) {
  std::vector<NetworkDimension> Dimensions;
  int64_t Inside = 1; // devices of a domain of the tier inside
  for (const TierSpec &T : C.Tiers) {
    const int64_t Ranks = std::min(*T.Devices, World) / Inside;
    if (Ranks > 1)
      Dimensions.push_back(makeDimension(
          T, *T.Topology, llvm::divideCeil(*T.Devices, Inside), Ranks));
    Inside = *T.Devices;
    if (Inside >= World)
      break;
  }
  if (Network == NetworkKind::Unaware || Dimensions.size() == 1)
    return Dimensions;
  // No ring of nodes is a ring of devices: one dimension can only model that
  // they reach one another at the rate of the tier.
  const TierSpec &Outermost = *Dimensions.back().Tier;
  return {makeDimension(Outermost, TopologyKind::Switch, World, World)};
}

bool astra::checkGrid(const Spec &S, DiagnosticEngine &Diags) {
  const Located<int64_t> &World = S.Parallel.World;
  const ClusterSpec &C = *S.Cluster;
  for (const TierSpec &T : C.Tiers) {
    const int64_t Size = *T.Devices;
    if (Size >= *World)
      break;
    const int64_t Over = *World % Size;
    if (Over == 0)
      continue;
    const int64_t Below = *World - Over, Above = Below + Size;
    const bool IsAbove = Over * 2 > Size && Above <= C.deviceCount();
    Diags
        .report(World.Range, diag::AstraGrid, *World, T.Name, Size,
                IsAbove ? Above : Below)
        .noteValue("devices", T.Devices);
    return false;
  }
  return true;
}

template <typename FnT>
static void writeList(llvm::StringRef Key,
                      llvm::ArrayRef<NetworkDimension> Dimensions,
                      llvm::raw_ostream &OS, FnT Text) {
  OS << Key << ": [ " << llvm::join(llvm::map_range(Dimensions, Text), ", ")
     << " ]\n";
}

void astra::writeNetwork(llvm::ArrayRef<NetworkDimension> Dimensions,
                         llvm::raw_ostream &OS) {
  OS << "# Of a link: `bandwidth` in GiB/s, `latency` in ns a hop.\n";
  writeList("topology", Dimensions, OS,
            [](const NetworkDimension &D) { return D.Topology->Name.str(); });
  writeList("npus_count", Dimensions, OS,
            [](const NetworkDimension &D) { return std::to_string(D.Ranks); });
  writeList("bandwidth", Dimensions, OS, [](const NetworkDimension &D) {
    return gibibytes(D.BytesPerSecond);
  });
  writeList("latency", Dimensions, OS, [](const NetworkDimension &D) {
    std::string Text;
    llvm::raw_string_ostream(Text)
        << llvm::format("%.12g", D.NanosecondsPerHop);
    return Text;
  });
}
