// SPDX-License-Identifier: Apache-2.0
//
// Which of a job's `emit` blocks are meant.
#pragma once

#include "backends/Backend.h"
#include "llvm/ADT/ArrayRef.h"

namespace foretrace {
class CompiledJob; // tools/compiler/CompiledJob.h
} // namespace foretrace

namespace foretrace::driver {

/// Returns the blocks of \p Emits for the backends \p Names, or all if it is
/// empty. A backend without a block gets one without options.
std::vector<ir::EmitSpec> selectEmits(llvm::ArrayRef<ir::EmitSpec> Emits,
                                      llvm::ArrayRef<std::string> Names);

/// The backend of \p Emit; null, and reported, if there is none.
const Backend *backendOf(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
/// Reports blocks that no job can have: of no backend, or with wrong options.
void checkBlocks(llvm::ArrayRef<ir::EmitSpec> Emits, DiagnosticEngine &Diags);

/// Returns whether the backend of \p Emit writes one file and takes its name.
bool takesFile(const ir::EmitSpec &Emit);

/// Returns whether there are \p Emits, and all need only the model.
bool areOfModel(llvm::ArrayRef<ir::EmitSpec> Emits);

/// Returns the program of \p Job whose figures the backend \p Name prints: of
/// the job's step, or of its largest one. Null after an error.
const ir::Program *programFor(CompiledJob &Job, llvm::StringRef Name);

/// Returns the words that an option takes, or `value`, as help shows them.
std::string valuesOf(const EmitOption &O);
/// Returns a sentence about an option, with its default.
std::string docOf(const EmitOption &O);

} // namespace foretrace::driver
