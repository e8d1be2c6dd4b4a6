// SPDX-License-Identifier: Apache-2.0
//
// `foretrace opt`: passes on the text form of the IR.
#ifndef FORETRACE_TOOLS_OPT_H
#define FORETRACE_TOOLS_OPT_H

#include "tools/foretrace/Commands.h"

namespace foretrace {

/// Reads the IR, runs `--passes`, prints the IR.
ExitCode runOpt();

} // namespace foretrace

#endif
