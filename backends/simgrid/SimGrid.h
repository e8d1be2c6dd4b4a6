// SPDX-License-Identifier: Apache-2.0
//
// The `simgrid` backend: what every rank does, in order, as time-independent
// traces for the replay of SimGrid (SMPI), a file each.
#pragma once

#include "backends/ranks/RankFiles.h"
#include "backends/simgrid/ReplayWriter.h"

namespace foretrace::simgrid {

struct Options {
  ir::MessageRules Rules;
  FileNames Files;
  AmountUnit Computations = AmountUnit::Time;
};

llvm::ArrayRef<EmitOption> optionTable();
Options readOptions(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
ir::FactSet needs(const Options &O);
bool check(const EmitRequest &Request, const Options &O,
           DiagnosticEngine &Diags);
llvm::Error emit(const EmitRequest &Request, const Options &O, OutputSet &Out);

} // namespace foretrace::simgrid
