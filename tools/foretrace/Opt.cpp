// SPDX-License-Identifier: Apache-2.0
#include "tools/foretrace/Opt.h"

namespace foretrace {

ExitCode runOpt() { return usageError("opt: not available in this build"); }

} // namespace foretrace
