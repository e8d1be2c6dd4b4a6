// SPDX-License-Identifier: Apache-2.0
//
// The `memory` backend: memory of a rank of each stage, when it peaks, and
// whether it fits into the device.
#pragma once

#include "backends/figures/Figures.h"

namespace foretrace::memory {

struct Options {
  std::string File; ///< empty: from the job's name
  RowFormat Format = RowFormat::Table;
  bool IsExact = false;        ///< a table has all digits
  std::optional<int64_t> Room; ///< of a device, bytes
};

llvm::ArrayRef<EmitOption> optionTable();
Options readOptions(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
ir::FactSet needs(const Options &O);
bool check(const EmitRequest &Request, const Options &O,
           DiagnosticEngine &Diags);
Figures figures(const EmitRequest &Request, const Options &O);

} // namespace foretrace::memory
