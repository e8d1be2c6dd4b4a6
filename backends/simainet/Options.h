// SPDX-License-Identifier: Apache-2.0
//
// The options of `emit simai-net { ... }`.
#pragma once

#include "backends/ranks/RankFiles.h"
#include "backends/simai/SimaiServers.h"

namespace foretrace::simainet {

struct Options {
  FileNames Files;
  SimaiServers Servers; ///< what the job says of them, not yet of its cluster
};

llvm::ArrayRef<EmitOption> optionTable();
Options readOptions(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);

} // namespace foretrace::simainet
