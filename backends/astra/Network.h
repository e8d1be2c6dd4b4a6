// SPDX-License-Identifier: Apache-2.0
//
// A network of ASTRA-sim: a grid, of which each dimension is a tier of the
// cluster, the innermost first.
#pragma once

#include "backends/Backend.h"
#include "backends/astra/Options.h"

namespace foretrace::astra {

/// How a topology is done, a row of Algorithms.def.
struct TopologyRow {
  llvm::StringLiteral Name;
  int64_t Hops;       ///< of a message between neighbours
  int64_t Neighbours; ///< that a device has links to, at most
  CollectiveImplementation Reduce, ToAll, AwareToAll;
};

struct NetworkDimension {
  const ir::TierSpec *Tier;
  const TopologyRow *Topology;
  int64_t Ranks; ///< at least 2; their product is the world
  /// Bandwidth of one link, and latency of one hop.
  double BytesPerSecond, NanosecondsPerHop;

  /// Default algorithm of a collective on this topology.
  CollectiveImplementation algorithm(ir::OpKind Collective,
                                     NetworkKind Network) const;
};

/// The tiers that \p World ranks of \p C need, as a grid. Ranks fill domains
/// (checkGrid), and there are two at least.
std::vector<NetworkDimension> dimensionsOf(const ir::ClusterSpec &C,
                                           int64_t World, NetworkKind Network);

/// Returns whether the ranks of \p S fill whole domains of each tier that they
/// need; reports the first tier where they do not.
bool checkGrid(const ir::Spec &S, DiagnosticEngine &Diags);

/// Warns of links between ranks of \p P that ASTRA-sim charges to another tier
/// than the one that joins them (Network, `get_dim_to_transfer`): with several
/// dimensions to the first one in which the places of two ranks differ, and
/// with one to that.
void checkLinks(const EmitRequest &Request, NetworkKind Network,
                DiagnosticEngine &Diags);

/// Writes the network file.
void writeNetwork(llvm::ArrayRef<NetworkDimension> Dimensions,
                  llvm::raw_ostream &OS);

} // namespace foretrace::astra
