// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/Backend.h"

namespace foretrace {

/// Reports exchanges of tokens with experts that a format can't express:
/// different sizes for each rank (`routing`), which it writes with the size of
/// the most loaded one, and copies that nodes share (`dispatcher = flex`).
void reportExpertExchanges(const EmitRequest &Request, llvm::StringRef Format,
                           DiagnosticEngine &Diags);

} // namespace foretrace
