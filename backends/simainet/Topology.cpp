// SPDX-License-Identifier: Apache-2.0
//
// The format: astra-sim-alibabacloud/inputs/topo/gen_Topo_Template.py of SimAI
// writes it, SetupNetwork (network_frontend/ns3/common.h) reads it.
#include "backends/simainet/Topology.h"
#include "backends/CommandLine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::simainet;

/// A byte is this many bits.
static constexpr int64_t Bits = 8;

int64_t Topology::nodes() const {
  return Runs.back().FirstSwitch + Runs.back().Switches;
}

int64_t Topology::links() const {
  int64_t Links = 0;
  for (const LinkRun &R : Runs)
    Links += R.Below;
  return Links;
}

static int64_t ceilDiv(int64_t A, int64_t B) {
  return static_cast<int64_t>(
      llvm::divideCeil(static_cast<uint64_t>(A), static_cast<uint64_t>(B)));
}

/// A switch of a domain sends at the rate of all its devices. The first tier of
/// switches joins devices by their network cards: only NVSwitches lie within
/// it, and nothing goes through them.
static LinkRun runAbove(const LinkRun &Inner, bool IsOfDevices,
                        const TierSpec &T, int64_t World, int64_t FirstSwitch) {
  LinkRun R{&T, 0, FirstSwitch, World, *T.Devices, 0, {}, {}};
  int64_t Joined = 1, Latency = *T.Latency;
  if (!IsOfDevices) {
    Joined = *Inner.Tier->Devices;
    R.FirstBelow = Inner.FirstSwitch;
    R.Below = Inner.Switches;
    R.BelowPerSwitch = *T.Devices / Joined;
    Latency = std::max<int64_t>(*T.Latency - *Inner.Tier->Latency, 0);
  }
  R.Switches = ceilDiv(R.Below, R.BelowPerSwitch);
  R.Rate = Quantity<struct LinkRateUnit>(*T.Bandwidth) * Joined;
  // A half of it up, the other half down.
  R.Delay = Quantity<struct PicosecondUnit>(Latency) * 500;
  return R;
}

Topology simainet::topologyOf(const ClusterSpec &C, int64_t World) {
  const TierSpec &Inner = C.Tiers.front();
  Topology Of;
  Of.Devices = World;
  Of.DevicesPerServer = std::min(World, *Inner.Devices);
  Of.Runs.push_back(runAbove({}, true, Inner, World, World));
  // Adds a switch even if all devices are in one server, as in all of the
  // simulator's own topologies.
  for (const TierSpec &T : llvm::ArrayRef(C.Tiers).drop_front()) {
    const LinkRun &Last = Of.Runs.back();
    if (Of.Runs.size() > 1 && Last.Switches == 1)
      break;
    Of.Runs.push_back(
        runAbove(Last, Of.Runs.size() == 1, T, World, Of.nodes()));
  }
  return Of;
}

std::vector<int64_t> simainet::portRates(const Topology &T) {
  std::vector<int64_t> Rates;
  for (const LinkRun &R : llvm::ArrayRef(T.Runs).drop_front())
    if (!llvm::is_contained(Rates, R.Rate.value() * Bits))
      Rates.push_back(R.Rate.value() * Bits);
  return Rates;
}

void simainet::writeTopology(const Topology &T, llvm::StringRef Gpu,
                             llvm::raw_ostream &OS) {
  constexpr unsigned Giga = 9, PicosecondsInMs = 9; // powers of ten
  const int64_t NvSwitches = T.Runs.front().Switches;
  OS << T.nodes() << ' ' << T.DevicesPerServer << ' ' << NvSwitches << ' '
     << T.nodes() - T.Devices - NvSwitches << ' ' << T.links() << ' ' << Gpu
     << '\n';
  for (int64_t Switch = T.Devices; Switch < T.nodes(); ++Switch)
    OS << Switch << (Switch + 1 < T.nodes() ? " " : "\n");
  for (const LinkRun &R : T.Runs) {
    const std::string Rest =
        " " + decimalFraction(R.Rate.value() * Bits, Giga) + "Gbps " +
        decimalFraction(R.Delay.value(), PicosecondsInMs) + "ms 0\n";
    for (int64_t I = 0; I < R.Below; ++I)
      OS << R.FirstBelow + I << ' ' << R.FirstSwitch + I / R.BelowPerSwitch
         << Rest;
  }
}
