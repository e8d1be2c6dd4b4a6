// SPDX-License-Identifier: Apache-2.0
//
// The `time` backend: the estimated time of an iteration, and what takes it.
#pragma once

#include "backends/figures/Figures.h"

namespace foretrace::timing {

struct Options {
  std::string File; ///< empty: from the job's name
  RowFormat Format = RowFormat::Table;
  bool IsExact = false; ///< a table has all digits
  bool Changes = false; ///< lists changes that make the iteration shorter
};

llvm::ArrayRef<EmitOption> optionTable();
Options readOptions(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
ir::FactSet needs(const Options &O);
bool check(const EmitRequest &Request, const Options &O,
           DiagnosticEngine &Diags);
Figures figures(const EmitRequest &Request, const Options &O);

} // namespace foretrace::timing
