// SPDX-License-Identifier: Apache-2.0
//
// Corrects the files of a job as its diagnostics say.
#pragma once

#include "tools/compiler/Compiler.h"
#include "tools/output/FileOutputs.h"

namespace foretrace::driver {

/// Applies the fixes of the errors of the job at \p Path to the files that they
/// are in, until none is left, and prints each to \p OS. Files of the library
/// stay as they are. Of two fixes that overlap, the first is applied, and the
/// job is compiled again before the other. Either all files are written or
/// none.
/// \p Diags has no messages; warnings that it refuses are errors.
llvm::Error fixFiles(llvm::StringRef Path, const FrontendOptions &Options,
                     const DiagnosticEngine &Diags,
                     const OutputOptions &Writing, llvm::raw_ostream &OS);

} // namespace foretrace::driver
