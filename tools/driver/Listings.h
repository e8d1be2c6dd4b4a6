// SPDX-License-Identifier: Apache-2.0
//
// What there is, a line each, from the tables and from the library.
#pragma once

#include "lang/RowWriter.h"

namespace foretrace::driver {

/// Returns the lists there are: `passes`, `backends`, ...
llvm::ArrayRef<llvm::StringRef> listingNames();

/// Returns what is wrong with asking for the list \p Name, and for all that it
/// summarizes if \p IsAll; empty if nothing is.
std::string mistakeInList(llvm::StringRef Name, bool IsAll);

/// Prints the list \p Name, which is one of these, or all that it summarizes.
/// For people, numbers are rounded unless they shall be exact.
void list(llvm::StringRef Name, RowFormat As, bool IsExact, bool IsAll,
          llvm::raw_ostream &OS);

/// Prints the rates of each device profile, the device that it was fitted on,
/// the half-range of an estimate with it, and its source. Rates and memory are
/// those of the cluster of that device.
void listDevices(RowFormat As, bool IsExact, llvm::raw_ostream &OS);
/// Prints the nodes, the device and the network of each cluster.
void listClusters(RowFormat As, bool IsExact, llvm::raw_ostream &OS);

} // namespace foretrace::driver
