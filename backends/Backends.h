// SPDX-License-Identifier: Apache-2.0
//
// All backends, from Backends.def.
#pragma once

#include "backends/Backend.h"

namespace foretrace {

/// All backends, in the order of Backends.def.
llvm::ArrayRef<Backend> allBackends();
/// The backend with that name, or null.
const Backend *findBackend(llvm::StringRef Name);
/// Of all, for a message.
std::string backendNames();

} // namespace foretrace
