// SPDX-License-Identifier: Apache-2.0
//
// Makes the rows of one stage from the ops of its chunks. Private to
// Skeleton.cpp.
#ifndef FORETRACE_BACKENDS_MEGATRON_BODIES_H
#define FORETRACE_BACKENDS_MEGATRON_BODIES_H

#include "backends/megatron/Skeleton.h"

namespace foretrace::megatron {

StageBodies makeBodies(const ir::Program &P, const ir::Stage &S,
                       Instrumentation How);

} // namespace foretrace::megatron

#endif
