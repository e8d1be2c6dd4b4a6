// SPDX-License-Identifier: Apache-2.0
//
// A cluster as SimAI's ns-3 simulator has it: devices, an NVSwitch in each
// server, and a switch for each domain of a tier, joined by links.
#pragma once

#include "ir/model/Spec.h"
#include "lang/Quantity.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace foretrace::simainet {

/// Links of one tier: one from each node below it to the node's switch.
struct LinkRun {
  const ir::TierSpec *Tier;
  int64_t FirstBelow, FirstSwitch; ///< numbers of nodes
  int64_t Below;                   ///< how many nodes have a link
  int64_t BelowPerSwitch, Switches;
  /// Bandwidth of one link, byte/s.
  Quantity<struct LinkRateUnit> Rate;
  Quantity<struct PicosecondUnit> Delay;
};

struct Topology {
  int64_t Devices, DevicesPerServer;
  /// The first is that of NVSwitches.
  std::vector<LinkRun> Runs;

  int64_t nodes() const;
  int64_t links() const;
};

/// Returns the topology of \p World devices of \p C, in whole servers. All
/// links of a message have the latency of the outermost tier that it crosses.
Topology topologyOf(const ir::ClusterSpec &C, int64_t World);

/// Writes the file, of GPUs that the simulator calls \p Gpu.
void writeTopology(const Topology &T, llvm::StringRef Gpu,
                   llvm::raw_ostream &OS);

/// Distinct rates of switches, bit/s.
std::vector<int64_t> portRates(const Topology &T);

/// Writes the script that runs SimAI on the table \p Table beside it.
void writeScript(const Topology &T, llvm::StringRef Name, llvm::StringRef Table,
                 llvm::StringRef Arguments, llvm::raw_ostream &OS);

} // namespace foretrace::simainet
