// SPDX-License-Identifier: Apache-2.0
//
// The `shapes` backend: the products, attention and messages that a job runs,
// for measuring them.
#pragma once

#include "backends/figures/Figures.h"

namespace foretrace::shapes {

struct Options {
  std::string File; ///< empty: from the job's name
  RowFormat Format = RowFormat::Table;
  bool Commands = false; ///< lists commands that measure them
};

llvm::ArrayRef<EmitOption> optionTable();
Options readOptions(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
ir::FactSet needs(const Options &O);
bool check(const EmitRequest &Request, const Options &O,
           DiagnosticEngine &Diags);
llvm::Error emit(const EmitRequest &Request, const Options &O, OutputSet &Out);

} // namespace foretrace::shapes
