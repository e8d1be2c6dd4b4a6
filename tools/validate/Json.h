// SPDX-License-Identifier: Apache-2.0
//
// The small JSON files beside traces, read as strictly as those who take them
// do.
#ifndef FORETRACE_TOOLS_VALIDATE_JSON_H
#define FORETRACE_TOOLS_VALIDATE_JSON_H

#include "llvm/Support/JSON.h"

namespace foretrace::validate {

/// LLVM's parser, but without numbers that JSON does not have (`01`, `+1`), and
/// with an end to nesting, for which it calls itself.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef Text);

} // namespace foretrace::validate

#endif
