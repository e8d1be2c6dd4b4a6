// SPDX-License-Identifier: Apache-2.0
//
// What SimAI is told of servers and their links beside a workload table, and
// the command that says it: for the backends of its tables and of its networks.
#pragma once

#include "backends/OptionKinds.h"
#include "ir/model/Spec.h"

namespace foretrace {

struct SimaiServers {
  /// Name of the GPU in the simulator; empty: that of the cluster, or an H100.
  std::string Gpu;
  /// Rates to use in place of that GPU's and its NIC's, bytes/s.
  std::optional<double> NvlinkBandwidth, NicBandwidth;
  /// Devices that NVLink joins, and their NICs.
  int64_t Devices = 8, Nics = 8;

  /// Returns the servers of the cluster of \p S, if it has one; \p Stated has
  /// the options, which take precedence.
  static SimaiServers of(const ir::Spec &S, const SimaiServers &Stated);
};

namespace option {
/// A GPU that the simulator knows.
struct Gpu : KindBase {
  static std::string expected() { return oneOf(words()); }
  static llvm::ArrayRef<llvm::StringRef> words();
  static std::string show(llvm::StringRef Gpu) { return Gpu.lower(); }
  static bool read(const ir::Attribute &A, std::string &Into,
                   DiagnosticEngine &);
};

/// In bytes/s. A number without a unit would be a tiny rate.
struct Rate : KindBase {
  static std::string expected() { return "a rate of at least 1 MB/s"; }
  static bool read(const ir::Attribute &A, std::optional<double> &Into,
                   DiagnosticEngine &);
};
} // namespace option

/// The options of the analytical simulator for \p World ranks, after those that
/// name files: `-g 16 -g_p_s 8 ...`.
std::string simaiArguments(const SimaiServers &Servers, int64_t World);

} // namespace foretrace
