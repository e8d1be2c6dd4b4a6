// SPDX-License-Identifier: Apache-2.0
//
// The `params` backend: how many parameters the model has, by kind of layer.
#ifndef FORETRACE_BACKENDS_PARAMS_PARAMS_H
#define FORETRACE_BACKENDS_PARAMS_PARAMS_H

#include "backends/Backend.h"

namespace foretrace::params {

struct Options {
  std::string File; ///< empty: from the job's name
};

llvm::ArrayRef<EmitOption> optionTable();
Options readOptions(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
ir::FactSet needs(const Options &O);
bool check(const EmitRequest &Request, const Options &O,
           DiagnosticEngine &Diags);
/// Writes `parameters: N`, `activated: N` (a token meets top-k of the routed
/// experts) and a line per block. Counts the model as published: without
/// vocabulary padding, a tied embedding once.
llvm::Error emit(const EmitRequest &Request, const Options &O, OutputSet &Out);

/// A line that it writes.
struct Line {
  std::string What;
  ir::ElementExpr Of;
  std::optional<int64_t> Layers; ///< of a block: of one layer of so many
};
/// All of them, in order. \p P takes in sums.
std::vector<Line> linesOf(ir::Program &P);

} // namespace foretrace::params

#endif
