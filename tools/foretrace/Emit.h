// SPDX-License-Identifier: Apache-2.0
//
// The emitter of a run, as the options of the command line ask for it.
#ifndef FORETRACE_TOOLS_EMIT_H
#define FORETRACE_TOOLS_EMIT_H

#include "tools/driver/Emitter.h"

namespace foretrace {

/// How the command line wants files to be written.
OutputOptions outputOptions();

/// For the job, or another input, at \p Path.
driver::Emitter makeEmitter(llvm::StringRef Path, driver::Destination To,
                            const SourceFiles &Sources,
                            DiagnosticEngine &Diags);

} // namespace foretrace

#endif
