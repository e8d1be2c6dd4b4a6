// SPDX-License-Identifier: Apache-2.0
//
// The keys of the language with what they are if a job does not set them.
#pragma once

#include "frontend/KeyList.h"

namespace foretrace {

/// All keys with their defaults.
std::vector<KeyEntry> allKeys();

} // namespace foretrace
