// SPDX-License-Identifier: Apache-2.0
//
// The `json` backend: the whole plan of a job as one document.
#pragma once

#include "backends/Backend.h"

namespace foretrace::planjson {

struct Options {
  std::string File; ///< empty: from the job's name
};

llvm::ArrayRef<EmitOption> optionTable();
Options readOptions(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
ir::FactSet needs(const Options &O);
bool check(const EmitRequest &Request, const Options &O,
           DiagnosticEngine &Diags);
llvm::Error emit(const EmitRequest &Request, const Options &O, OutputSet &Out);

} // namespace foretrace::planjson
