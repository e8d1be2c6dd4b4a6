// SPDX-License-Identifier: Apache-2.0
//
// JSON of others, read as strictly as RFC 8259 says.
#pragma once

#include "llvm/Support/JSON.h"

namespace foretrace {

/// LLVM's parser, but without numbers that JSON does not have (`01`, `+1`), and
/// with an end to nesting, for which it calls itself. Returns an error above \p
/// MostNested open brackets; files beside traces need no more than 8.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef Text,
                                            int MostNested = 8);

} // namespace foretrace
