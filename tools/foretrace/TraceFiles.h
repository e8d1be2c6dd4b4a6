// SPDX-License-Identifier: Apache-2.0
//
// The traces that a command line names.
#ifndef FORETRACE_TOOLS_TRACEFILES_H
#define FORETRACE_TOOLS_TRACEFILES_H

#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace foretrace {

/// The files among \p Given, and all `*.txt` of the folders, in order. An error
/// if there is none.
llvm::Expected<std::vector<std::string>>
listTraces(const std::vector<std::string> &Given);

} // namespace foretrace

#endif
