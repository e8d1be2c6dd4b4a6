// SPDX-License-Identifier: Apache-2.0
#include "backends/SimaiServers.h"
#include "backends/CommandLine.h"
#include "backends/EmitOptions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace foretrace;
using namespace foretrace::ir;

SimaiServers SimaiServers::of(const Spec &S, const SimaiServers &Stated) {
  SimaiServers Of = Stated;
  if (!S.Cluster)
    return Of;
  const ClusterSpec &C = *S.Cluster;
  const TierSpec &Inner = C.Tiers.front();
  Of.Devices = *Inner.Devices;
  Of.Nics = Of.Devices;
  if (C.Nics.isPresent())
    Of.Nics = std::max<int64_t>(*C.Nics * Of.Devices / *C.DevicesPerNode, 1);
  if (!Of.NvlinkBandwidth)
    Of.NvlinkBandwidth = static_cast<double>(*Inner.Bandwidth);
  if (!Of.NicBandwidth && C.NicBandwidth.isPresent())
    Of.NicBandwidth = static_cast<double>(*C.NicBandwidth);
  return Of;
}

void foretrace::readGpu(const NamedAttribute &Option, SimaiServers &Into,
                        DiagnosticEngine &Diags) {
  static constexpr llvm::StringLiteral Gpus[] = {"a100", "a800", "h100", "h800",
                                                 "h20"};
  const Attribute &V = Option.Value;
  const bool IsText =
      V.K == Attribute::Kind::Text || V.K == Attribute::Kind::Name;
  if (IsText && llvm::is_contained(Gpus, V.Text))
    Into.Gpu = llvm::StringRef(V.Text).upper();
  else
    reportOptionValue(
        Option, "one of " + llvm::join(llvm::ArrayRef(Gpus), ", "), Diags);
}

/// A rate without its unit would be one of bytes per second.
static void readRate(const NamedAttribute &Option, std::optional<double> &Rate,
                     DiagnosticEngine &Diags) {
  const Attribute &V = Option.Value;
  if (V.K == Attribute::Kind::Int)
    Rate = static_cast<double>(V.Integer);
  else if (V.K == Attribute::Kind::Real)
    Rate = V.Real;
  if (!Rate || *Rate < 1e6)
    reportOptionValue(Option, "a rate of at least 1 MB/s", Diags);
}

void foretrace::readNvlinkBandwidth(const NamedAttribute &Option,
                                    SimaiServers &Into,
                                    DiagnosticEngine &Diags) {
  readRate(Option, Into.NvlinkBandwidth, Diags);
}

void foretrace::readNicBandwidth(const NamedAttribute &Option,
                                 SimaiServers &Into, DiagnosticEngine &Diags) {
  readRate(Option, Into.NicBandwidth, Diags);
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
