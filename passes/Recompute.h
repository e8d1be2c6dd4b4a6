// SPDX-License-Identifier: Apache-2.0
//
// Which blocks the backward pass computes again. Private to the passes.
#ifndef FORETRACE_PASSES_RECOMPUTE_H
#define FORETRACE_PASSES_RECOMPUTE_H

#include "ir/Program.h"

namespace foretrace {

/// How \p B is recomputed: as the job says, but never the ends of the layers,
/// embedding and head.
ir::RecomputeKind recomputationOf(const ir::Program &P, const ir::Block &B);

} // namespace foretrace

#endif
