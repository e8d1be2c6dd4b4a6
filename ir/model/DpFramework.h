// SPDX-License-Identifier: Apache-2.0
//
// Frameworks that reduce gradients and shard weights, values of `dp_framework`.
#pragma once

namespace foretrace::ir {

enum class DpFrameworkKind : unsigned char {
#define DP_FRAMEWORK_KIND(ENUMERATOR, SPELLING) ENUMERATOR,
#include "ir/model/Spec.def"
};

} // namespace foretrace::ir
