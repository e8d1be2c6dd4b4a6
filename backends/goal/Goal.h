// SPDX-License-Identifier: Apache-2.0
//
// The `goal` backend: what every rank does, as messages and computations with
// dependences between them, in one file for LogGOPSim and htsim (GOAL,
// Hoefler, Siebert and Lumsdaine, ICPP 2009).
#pragma once

#include "backends/ranks/MessageOptions.h"

namespace foretrace::goal {

struct Options {
  std::string File; ///< empty: from the job's name
  ir::MessageRules Rules;
};

llvm::ArrayRef<EmitOption> optionTable();
Options readOptions(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
ir::FactSet needs(const Options &O);
bool check(const EmitRequest &Request, const Options &O,
           DiagnosticEngine &Diags);
llvm::Error emit(const EmitRequest &Request, const Options &O, OutputSet &Out);
/// Derives a task of a rank: the message that its operations move, or the time
/// of its computation.
llvm::Expected<std::vector<Subject>>
locate(const EmitRequest &Request, const Options &O, const CellQuery &Asked);

} // namespace foretrace::goal
