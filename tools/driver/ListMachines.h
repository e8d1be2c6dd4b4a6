// SPDX-License-Identifier: Apache-2.0
//
// The shipped devices and clusters, a line each. Private to tools/driver.
#pragma once

#include "lang/RowWriter.h"

namespace foretrace::driver {

/// Prints the rates of each device profile, the device that it was fitted on,
/// the half-range of an estimate with it, and its source. Rates and memory are
/// those of the cluster of that device.
void listDevices(RowFormat As, bool IsExact, llvm::raw_ostream &OS);
/// Prints the nodes, the device and the network of each cluster.
void listClusters(RowFormat As, bool IsExact, llvm::raw_ostream &OS);

} // namespace foretrace::driver
