// SPDX-License-Identifier: Apache-2.0
//
// What the generator's programs can't write, or write as if the job were
// another one. Private to the backend.
#pragma once

#include "backends/aicb/Options.h"

namespace foretrace::aicb {

/// Whether there is a workload of \p S; reports why not, and options without
/// effect.
bool checkWorkload(const ir::Spec &S, const ir::EmitSpec &Emit,
                   const Options &O, DiagnosticEngine &Diags);

} // namespace foretrace::aicb
