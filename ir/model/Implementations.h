// SPDX-License-Identifier: Apache-2.0
//
// Whose layers and whose cross entropy a job runs: values of `transformer_impl`
// and `fused_loss`.
#pragma once

namespace foretrace::ir {

enum class TransformerImplKind : unsigned char {
#define TRANSFORMER_IMPL_KIND(ENUMERATOR, SPELLING) ENUMERATOR,
#include "ir/model/Spec.def"
};
enum class FusedLossKind : unsigned char {
#define FUSED_LOSS_KIND(ENUMERATOR, SPELLING) ENUMERATOR,
#include "ir/model/Spec.def"
};

} // namespace foretrace::ir
