// SPDX-License-Identifier: Apache-2.0
#include "backends/Backend.h"

namespace foretrace {

OutputSet::~OutputSet() = default;

} // namespace foretrace
