// SPDX-License-Identifier: Apache-2.0
//
// Part of `derive`: what follows from the cluster, whether the ranks fit on it,
// and which device costs are reckoned for.
#include "passes/derive/DeriveCluster.h"
#include "ir/model/KnownDevice.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Passes.h"
#include "passes/derive/Deriver.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace foretrace;
using namespace foretrace::ir;

/// Returns the bandwidth of a node's network cards per device, in one
/// direction; rounded down by less than 1 byte/s.
static std::optional<int64_t> shareOfNics(const ClusterSpec &C) {
  const __int128 Share =
      static_cast<__int128>(*C.Nics) * *C.NicBandwidth / *C.DevicesPerNode;
  if (Share > INT64_MAX)
    return std::nullopt;
  return std::max<int64_t>(static_cast<int64_t>(Share), 1);
}

void Deriver::deriveBandwidth(const ClusterSpec &C, TierSpec &T) {
  if (T.Bandwidth.isStated())
    return;
  const bool LeavesNode =
      !T.Devices.isStated() || *T.Devices > *C.DevicesPerNode;
  if (!LeavesNode || !C.NicBandwidth.isPresent() || !C.Nics.isPresent()) {
    error(T.Range, diag::MissingKey, T.Name, "bandwidth", "450 GB/s");
    return;
  }
  if (const std::optional<int64_t> Share = shareOfNics(C))
    T.Bandwidth.derive(*Share, C.NicBandwidth.Range);
  else
    error(C.Nics.Range, diag::SizeOverflow, "nics x nic_bandwidth of a device");
}

/// Domains nest, so ranks are joined by the innermost tier whose domain has the
/// first and the last of them.
void Deriver::checkTier(const ClusterSpec &C, size_t Index) {
  const TierSpec &T = C.Tiers[Index];
  const int64_t Joined = *T.Devices, Node = *C.DevicesPerNode;
  if (!T.Devices.isStated())
    return;
  // A cluster from -D has as many nodes as the ranks need, in all such jobs.
  const Located<int64_t> &World = S.Parallel.World;
  const auto HasRoom = [&] {
    return C.Nodes.isStated()
               ? Joined >= C.deviceCount()
               : holds(isAtMost(of(World), number(Joined - Joined % Node)),
                       diag::TierTooSmall, World);
  };
  if (Index + 1 == C.Tiers.size() && !HasRoom())
    error(T.Devices.Range, diag::TierTooSmall, T.Name, Joined, C.deviceCount())
        .noteValue("nodes", C.Nodes);
  if (Joined % Node != 0 && Node % Joined != 0)
    error(T.Devices.Range, diag::TierSplitsNode, T.Name, Joined, Node)
        .noteValue("devices_per_node", C.DevicesPerNode);
  if (Index == 0)
    return;
  const TierSpec &Inside = C.Tiers[Index - 1];
  if (Inside.Devices.isPresent() &&
      (Joined % *Inside.Devices != 0 || Joined == *Inside.Devices))
    error(T.Devices.Range, diag::TierInside, T.Name, Joined, Inside.Name,
          *Inside.Devices)
        .noteValue("devices", Inside.Devices);
}

/// Warns of implausible links: mostly the unit is wrong.
static void checkLink(const TierSpec &T, DiagnosticEngine &Diags) {
  constexpr int64_t LeastRate = 1'000'000, MostRate = 1'000'000'000'000'000;
  constexpr int64_t MostLatency = 1'000'000'000;
  if (*T.Bandwidth < LeastRate || *T.Bandwidth > MostRate)
    Diags.report(T.Bandwidth.Range, diag::TierExtreme, T.Name, "bandwidth",
                 std::to_string(*T.Bandwidth) + " B/s",
                 "1 MB/s to 1 PB/s per device");
  if (*T.Latency > MostLatency)
    Diags.report(T.Latency.Range, diag::TierExtreme, T.Name, "latency",
                 std::to_string(*T.Latency) + " ns", "at most 1 s");
}

/// Warns of a tier that is worse than the next one outside of it.
static void checkOrder(const TierSpec &Inside, const TierSpec &Outside,
                       DiagnosticEngine &Diags) {
  if (*Inside.Bandwidth < *Outside.Bandwidth)
    Diags.report(Inside.Bandwidth.Range, diag::TierSlowerInside, Inside.Name,
                 "a bandwidth of", std::to_string(*Inside.Bandwidth) + " B/s",
                 "less", std::to_string(*Outside.Bandwidth) + " B/s",
                 Outside.Name);
  if (*Inside.Latency > *Outside.Latency)
    Diags.report(Inside.Latency.Range, diag::TierSlowerInside, Inside.Name,
                 "a latency of", std::to_string(*Inside.Latency) + " ns",
                 "more", std::to_string(*Outside.Latency) + " ns",
                 Outside.Name);
}

void Deriver::deriveTiers(ClusterSpec &C) {
  if (C.Tiers.empty())
    error(C.Range, diag::NoTiers);
  for (size_t I = 0; I != C.Tiers.size(); ++I) {
    TierSpec &T = C.Tiers[I];
    if (!T.Devices.isStated() && I + 1 == C.Tiers.size())
      T.Devices.derive(C.deviceCount(), C.Nodes.Range);
    if (T.Devices.isPresent()) {
      checkTier(C, I);
      deriveBandwidth(C, T);
    } else {
      error(T.Range, diag::MissingKey, T.Name, "devices", "8");
    }
  }
  if (Failed)
    return;
  for (const TierSpec &T : C.Tiers)
    checkLink(T, Diags);
  for (size_t I = 1; I < C.Tiers.size(); ++I)
    checkOrder(C.Tiers[I - 1], C.Tiers[I], Diags);
}

void Deriver::deriveCluster() {
  if (!S.Cluster)
    return;
  ClusterSpec &C = *S.Cluster;
  int64_t Devices;
  if (llvm::MulOverflow(*C.Nodes, *C.DevicesPerNode, Devices)) {
    error(C.Nodes.Range, diag::SizeOverflow, "nodes x devices_per_node");
    return;
  }
  const Located<int64_t> &World = S.Parallel.World;
  if (C.Nodes.isStated() && !holds(isAtMost(of(World), number(Devices)),
                                   diag::WorldExceedsCluster, World))
    error(World.Range, diag::WorldExceedsCluster, *World, *C.Nodes,
          *C.DevicesPerNode, Devices)
        .noteValue("nodes", C.Nodes);
  else if (C.Nodes.isStated() && S.Serve &&
           !holds(isAtMost(of(World) * of(S.Serve->Replicas), number(Devices)),
                  diag::ServeCluster, S.Serve->Replicas))
    error(S.Serve->Replicas.Range, diag::ServeCluster, *S.Serve->Replicas,
          *World, Devices)
        .noteValue("nodes", C.Nodes);
  if (C.NicBandwidth.isPresent() && !C.Nics.isStated())
    C.Nics.derive(*C.DevicesPerNode, C.DevicesPerNode.Range);
  if (C.Nics.isPresent() && !C.NicBandwidth.isPresent())
    error(C.Nics.Range, diag::MissingKey, "cluster", "nic_bandwidth",
          "400 Gbit/s");
  deriveTiers(C);
  checkPeaks(C.Device);
  const Located<int64_t> &Tp = S.Parallel.Tp;
  if (!Failed && *Tp > C.domainSize() && C.domainSize() > 1)
    Diags.report(Tp.Range, diag::TpBeyondDomain, *Tp, C.domainSize());
}

/// Data sheets print rates with 2:4 sparsity, which are twice the dense ones.
void Deriver::checkPeaks(const DeviceSpec &D) {
  const KnownDevice *Known = deviceOf(S);
  if (!Known)
    return;
  auto Check = [&](const Located<int64_t> &Peak, llvm::StringRef Key,
                   double Dense) {
    if (!Peak.isPresent() || Dense == 0)
      return;
    const double Is = static_cast<double>(*Peak) / 1e12;
    if (Is <= 1.05 * Dense)
      return;
    const bool IsSparse = std::abs(Is / Dense - 2) < 0.05;
    const auto Text = [](double Number) {
      std::string Digits;
      llvm::raw_string_ostream(Digits) << llvm::format("%.6g", Number);
      return Digits;
    };
    Diags.report(Peak.Range, diag::PeakAboveDataSheet, Key, Text(Is),
                 Known->Name, Text(Dense),
                 IsSparse ? "; twice that is its rate with 2:4 sparsity" : "");
  };
  Check(D.PeakBf16, "peak_bf16", Known->Bf16);
  Check(D.PeakFp8, "peak_fp8", Known->Fp8);
  Check(D.PeakFp4, "peak_fp4", Known->Fp4);
}

/// The frontend and the verifier saw that there is one; not so in a job that
/// took over `cost` alone from another one.
void Deriver::deriveDevice() {
  if (*S.Cost.Kind != CostKind::Roofline && *S.Cost.Kind != CostKind::Estimate)
    return;
  const DeviceSpec Device = S.rooflineDevice();
  auto Fill = [&](Located<int64_t> &Out, const Located<int64_t> &From,
                  llvm::StringRef Name, llvm::StringRef Example) {
    if (!From.isPresent())
      error(S.Cost.Kind.Range, diag::MissingKey, "device", Name, Example);
    else if (!Out.isStated())
      Out.derive(*From, From.Range);
  };
  auto FillPeak = [&](TypeKind Of) {
    const DeviceSpec::Peak &Peak = DeviceSpec::peakOf(Of);
    Fill(S.Cost.Device.*Peak.Member, Device.*Peak.Member, Peak.Key,
         Peak.Example);
  };
  FillPeak(static_cast<TypeKind>(*S.Train.Precision)); // of all other ops
  // Only products need the others (AnnotateCosts.cpp): memory does not.
  for (const TypeKind Of : S.computeTypes())
    if (isScaled(elementTypeOf(Of)) &&
        (Device.*DeviceSpec::peakOf(Of).Member).isPresent())
      FillPeak(Of);
  Fill(S.Cost.Device.MemoryBandwidth, Device.MemoryBandwidth,
       "memory_bandwidth", "3350 GB/s");
}

bool foretrace::deriveCluster(Program &P, DiagnosticEngine &Diags) {
  return Deriver(P, Diags).runCluster();
}
