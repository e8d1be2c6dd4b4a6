// SPDX-License-Identifier: Apache-2.0
//
// The layout of a job that is the name of a model.
#pragma once

#include "tools/compiler/Compiler.h"

namespace foretrace::start {

/// If the job at \p Path is a model, and \p Options set a cluster but no
/// layout, adds the one that `foretrace new` chooses to them, and the batch;
/// reports what is assumed. If none fits, reports that; then, and if none is
/// legal, \p Options stay as they are.
void chooseLayout(Compiler &Session, llvm::StringRef Path,
                  FrontendOptions &Options, DiagnosticEngine &Diags);

} // namespace foretrace::start
