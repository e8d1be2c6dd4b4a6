// SPDX-License-Identifier: Apache-2.0
#include "backends/simai/SimaiServers.h"
#include "backends/CommandLine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace foretrace;

/// The GPU that the name of a device begins with, `H800 SXM5 80GB`; an H100 if
/// the simulator knows no such GPU.
static std::string gpuOf(const ir::Spec &S) {
  const llvm::StringRef Name =
      S.Cluster && S.Cluster->Device.Name.isPresent()
          ? llvm::StringRef(*S.Cluster->Device.Name).split(' ').first
          : "";
  const bool IsKnown = llvm::is_contained(option::Gpu::words(), Name.lower());
  return IsKnown ? Name.upper() : "H100";
}

/// Bandwidth of a network card of the servers \p Of, at which its devices
/// together reach the rate of the first tier beyond them, as in a topology.
static std::optional<double> nicBandwidthOf(const ir::ClusterSpec &C,
                                            const SimaiServers &Of) {
  if (C.Tiers.size() > 1 &&
      (C.Tiers[1].Bandwidth.isStated() || !C.NicBandwidth.isPresent()))
    return static_cast<double>(*C.Tiers[1].Bandwidth) *
           static_cast<double>(Of.Devices) / static_cast<double>(Of.Nics);
  if (C.NicBandwidth.isPresent())
    return static_cast<double>(*C.NicBandwidth);
  return std::nullopt;
}

SimaiServers SimaiServers::of(const ir::Spec &S, const SimaiServers &Stated) {
  SimaiServers Of = Stated;
  if (Of.Gpu.empty())
    Of.Gpu = gpuOf(S);
  if (!S.Cluster)
    return Of;
  const ir::ClusterSpec &C = *S.Cluster;
  const ir::TierSpec &Inner = C.Tiers.front();
  Of.Devices = *Inner.Devices;
  Of.Nics = Of.Devices;
  if (C.Nics.isPresent())
    Of.Nics = static_cast<int64_t>(std::clamp<__int128>(
        static_cast<__int128>(*C.Nics) * Of.Devices / *C.DevicesPerNode, 1,
        INT64_MAX));
  if (!Of.NvlinkBandwidth)
    Of.NvlinkBandwidth = static_cast<double>(*Inner.Bandwidth);
  if (!Of.NicBandwidth)
    Of.NicBandwidth = nicBandwidthOf(C, Of);
  return Of;
}

llvm::ArrayRef<llvm::StringRef> option::Gpu::words() {
  static constexpr llvm::StringRef Words[] = {"a100", "a800", "h100", "h800",
                                              "h20"};
  return Words;
}

bool option::Gpu::read(const ir::Attribute &A, std::string &Into,
                       DiagnosticEngine &) {
  const bool IsText =
      A.K == ir::Attribute::Kind::Text || A.K == ir::Attribute::Kind::Name;
  if (!IsText || !findText(A, words()))
    return false;
  Into = llvm::StringRef(A.Text).upper();
  return true;
}

bool option::Rate::read(const ir::Attribute &A, std::optional<double> &Into,
                        DiagnosticEngine &) {
  if (!A.Measures.empty() && A.Measures != "a data rate")
    return false;
  if (A.K == ir::Attribute::Kind::Int)
    Into = static_cast<double>(A.Integer);
  else if (A.K == ir::Attribute::Kind::Real)
    Into = A.Real;
  return Into && *Into >= 1e6;
}

/// `-g` is a second source of truth: the simulator takes the number of ranks
/// from it, not from the table. Without `-n_p_s` and `-g_type` it reads memory
/// that nothing was written to.
std::string foretrace::simaiArguments(const SimaiServers &Servers,
                                      int64_t World) {
  std::string Arguments;
  llvm::raw_string_ostream OS(Arguments);
  OS << "-g " << World << " -g_p_s " << std::min(World, Servers.Devices)
     << " -n_p_s " << std::min(World, Servers.Nics) << " -g_type "
     << Servers.Gpu;
  if (Servers.NvlinkBandwidth)
    OS << " -nv " << gibibytes(*Servers.NvlinkBandwidth);
  if (Servers.NicBandwidth)
    OS << " -nic " << gibibytes(*Servers.NicBandwidth);
  return Arguments;
}
