// SPDX-License-Identifier: Apache-2.0
//
// Runs passes in an order in which each finds what it requires.
#pragma once

#include "ir/model/Program.h"
#include "lang/Diagnostic.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <vector>

namespace foretrace {

/// A pass: Program to Program, one decision. Returns false after an error it
/// reported; the program is then not used further.
using PassFunction = bool (*)(ir::Program &, DiagnosticEngine &);

/// A row of Passes.def.
struct PassInfo {
  llvm::StringRef Name;    ///< the flag of `--passes=`
  llvm::StringRef Summary; ///< one line
  /// Keys of the spec that its result depends on: `section.key` or `section.*`,
  /// separated by blanks.
  llvm::StringRef Reads;
  ir::FactSet Requires;
  ir::FactSet Establishes;
  PassFunction Run;
};

/// All passes in the order the default pipeline runs them.
llvm::ArrayRef<PassInfo> allPasses();
/// The pass with that name, or null.
const PassInfo *findPass(llvm::StringRef Name);
/// Returns the passes in order of \p Names; an error names an unknown one.
llvm::Expected<std::vector<const PassInfo *>>
findPasses(llvm::ArrayRef<std::string> Names);

/// The passes of the default order that establish \p Needs, with what they
/// require in turn.
std::vector<const PassInfo *> pipelineFor(ir::FactSet Needs);

/// Actions between passes.
struct PassOptions {
  bool VerifyEach = false;
  /// Called after each pass, e.g. to print the program; may be null.
  llvm::function_ref<void(const PassInfo &, const ir::Program &)> After;
  /// Called with the wall time of each pass, in ns; may be null.
  llvm::function_ref<void(const PassInfo &, int64_t)> Timed;
};

/// Runs \p Passes; false if one fails or lacks a prerequisite.
bool runPasses(ir::Program &P, llvm::ArrayRef<const PassInfo *> Passes,
               DiagnosticEngine &Diags, const PassOptions &Options);

/// The program of \p Job with the facts \p Needs; nothing after an error.
std::optional<ir::Program> establish(ir::Spec Job, ir::FactSet Needs,
                                     DiagnosticEngine &Diags);

} // namespace foretrace
