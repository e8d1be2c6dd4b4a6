// SPDX-License-Identifier: Apache-2.0
//
// One `emit` block: the passes its backend needs, the backend's check, and its
// files.
#ifndef FORETRACE_TOOLS_EMIT_H
#define FORETRACE_TOOLS_EMIT_H

#include "backends/output/FileOutputs.h"
#include "ir/Spec.h"
#include "lang/Diagnostic.h"
#include "llvm/Support/SourceMgr.h"

namespace foretrace {

/// Adds what \p Emit makes of \p Spec to \p Outputs. Everything wrong is in
/// \p Diags.
void emitOne(const ir::Spec &Spec, const ir::EmitSpec &Emit,
             const llvm::SourceMgr &Sources, FileOutputs &Outputs,
             DiagnosticEngine &Diags);

} // namespace foretrace

#endif
