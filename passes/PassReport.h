// SPDX-License-Identifier: Apache-2.0
//
// What can be seen of a program and of the passes that made it, for those who
// work on passes.
#pragma once

#include "passes/PassManager.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace foretrace {

/// Selected reports.
struct PassReport {
  bool VerifyEach = false;
  bool Times = false;
  std::vector<std::string> PrintAfter; ///< names of passes, or `all`
};

/// Runs \p Passes as runPasses does, and prints what \p Report asks for to
/// \p OS.
bool runPasses(ir::Program &P, llvm::ArrayRef<const PassInfo *> Passes,
               DiagnosticEngine &Diags, const PassReport &Report,
               llvm::raw_ostream &OS);

/// Prints the size of \p P and of the job that it describes.
void printStatistics(const ir::Program &P, llvm::raw_ostream &OS);

} // namespace foretrace
