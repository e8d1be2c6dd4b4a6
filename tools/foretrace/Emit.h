// SPDX-License-Identifier: Apache-2.0
//
// The emitter of a run, as the options of the command line ask for it.
#pragma once

#include "frontend/Frontend.h"
#include "tools/driver/Emitter.h"
#include "tools/foretrace/Commands.h"

namespace foretrace {

/// Returns the options of the command line for writing files.
OutputOptions outputOptions();

/// Makes an emitter for the job, or another input, at \p Path.
driver::Emitter makeEmitter(llvm::StringRef Path, driver::Destination To,
                            const SourceFiles &Sources, DiagnosticEngine &Diags,
                            driver::EmitterOptions Options = {});

/// With --fix, corrects the files of the job, which is read with \p Options.
ExitCode fixIfAsked(const FrontendOptions &Options);

} // namespace foretrace
