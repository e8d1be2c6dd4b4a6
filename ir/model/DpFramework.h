// SPDX-License-Identifier: Apache-2.0
//
// Frameworks that reduce gradients and shard weights, values of `dp_framework`.
#ifndef FORETRACE_IR_MODEL_DPFRAMEWORK_H
#define FORETRACE_IR_MODEL_DPFRAMEWORK_H

namespace foretrace::ir {

enum class DpFrameworkKind : unsigned char {
#define DP_FRAMEWORK_KIND(ENUMERATOR, SPELLING) ENUMERATOR,
#include "ir/model/Spec.def"
};

} // namespace foretrace::ir

#endif
