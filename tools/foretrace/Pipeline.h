// SPDX-License-Identifier: Apache-2.0
//
// Runs passes with the options that `compile` and `opt` share: printing,
// verifying, timing and statistics.
#pragma once

#include "passes/PassManager.h"

namespace foretrace {

/// Runs \p Passes as `--print-after`, `--verify-each` and `--time-passes` ask;
/// what they print goes to standard error.
bool runPipeline(ir::Program &P, llvm::ArrayRef<const PassInfo *> Passes,
                 DiagnosticEngine &Diags);

/// With `--stats`, prints the size of \p P and of the job that it describes.
void showStatistics(const ir::Program &P);

/// Reports a `--print-after` that names no pass; false if there is one.
bool checkPipelineOptions();

} // namespace foretrace
