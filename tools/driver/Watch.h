// SPDX-License-Identifier: Apache-2.0
//
// Runs a command again whenever one of its inputs changes.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>
#include <vector>

namespace foretrace::driver {

/// Calls \p Run, which returns the files that it read, and again whenever one
/// of these changes. On a terminal the screen is cleared first. Returns once \p
/// Run has read no file; else a signal ends the process. The times of files are
/// polled, which works on network file systems, too.
void watch(llvm::function_ref<std::vector<std::string>()> Run);

} // namespace foretrace::driver
