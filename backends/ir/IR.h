// SPDX-License-Identifier: Apache-2.0
//
// The `ir` backend: the text form of the program at a level.
#pragma once

#include "backends/Backend.h"

namespace foretrace::irtext {

/// Options: `level` (spec, model, spmd, schedule; the last is the default) and
/// `file` (standard output if absent).
struct Options {
  std::string File = "-";
  ir::Level Level = ir::Level::Schedule;
};

llvm::ArrayRef<EmitOption> optionTable();
Options readOptions(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
ir::FactSet needs(const Options &O);
bool check(const EmitRequest &Request, const Options &O,
           DiagnosticEngine &Diags);
llvm::Error emit(const EmitRequest &Request, const Options &O, OutputSet &Out);

} // namespace foretrace::irtext
