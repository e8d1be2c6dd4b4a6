// SPDX-License-Identifier: Apache-2.0
//
// What the options of every `emit` block have in common.
#ifndef FORETRACE_BACKENDS_EMITOPTIONS_H
#define FORETRACE_BACKENDS_EMITOPTIONS_H

#include "ir/Spec.h"
#include "lang/Diagnostic.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace foretrace {

/// Reports the options of \p Emit that are not in \p Known, the nearest name
/// with each.
void checkOptionNames(const ir::EmitSpec &Emit,
                      llvm::ArrayRef<llvm::StringRef> Known,
                      DiagnosticEngine &Diags);

/// Reports that the value of \p Option is not \p Expected.
void reportOptionValue(const ir::NamedAttribute &Option,
                       llvm::StringRef Expected, DiagnosticEngine &Diags);

/// The option `file`, or \p Default; reports one that names no file.
std::string readFile(const ir::EmitSpec &Emit, llvm::StringRef Default,
                     DiagnosticEngine &Diags);

} // namespace foretrace

#endif
