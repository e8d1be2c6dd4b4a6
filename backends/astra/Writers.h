// SPDX-License-Identifier: Apache-2.0
//
// Writers of ASTRA-sim's inputs other than traces and network.
#pragma once

#include "backends/astra/Network.h"

namespace foretrace::astra {

/// Writes the system file of a job whose device has a memory bandwidth, and a
/// peak rate if there is a roofline.
void writeSystem(const ir::Spec &S, const Options &O,
                 llvm::ArrayRef<NetworkDimension> Dimensions,
                 llvm::raw_ostream &OS);
/// Returns whether ASTRA-sim is to reckon times itself.
bool hasRoofline(const ir::Spec &S, const Options &O);

/// Writes the file of memories outside the device, which must be there: none.
void writeMemory(llvm::raw_ostream &OS);

/// Writes the script that runs \p World traces, \p Name and their ranks.
void writeScript(llvm::StringRef Name, int64_t World, NetworkKind Network,
                 llvm::raw_ostream &OS);

} // namespace foretrace::astra
