// SPDX-License-Identifier: Apache-2.0
//
// The kinds of ops: one enumerator per row of ir/model/Ops.def.
#pragma once

#include "ir/model/Ops.h"

namespace foretrace::ir {

enum class OpKind : unsigned char {
#define COMPUTE_OP(ENUMERATOR, ...) ENUMERATOR,
#define COLLECTIVE_OP(ENUMERATOR, ...) ENUMERATOR,
#include "ir/model/Ops.def"
};

} // namespace foretrace::ir
