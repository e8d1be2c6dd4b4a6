// SPDX-License-Identifier: Apache-2.0
//
// FLOPs as Megatron-LM and Megatron-Bridge count them, from the sizes of a
// model rather than from its ops (Megatron-LM, training/training.py,
// num_floating_point_operations; Megatron-Bridge,
// training/utils/flop_utils.py, the same function). Private to the backend.
#pragma once

#include "ir/model/Spec.h"
#include "lang/Diagnostic.h"

namespace foretrace::flops {

/// A function that counts FLOPs.
enum class Convention : unsigned char {
  Exact,  ///< FlopCounter
  Core,   ///< Megatron-LM, `transformer_flops`: no discount for windows
  Hybrid, ///< both, `hybrid_flops`: Mamba with twice the hidden size
  Bridge, ///< Megatron-Bridge, `transformer_flops`: windows are discounted
};

/// Returns whether the function of \p By knows all layers of a job. Reports
/// others.
bool checkConvention(const ir::Spec &S, Convention By, DiagnosticEngine &Diags);

/// Returns the forward and backward FLOPs of all samples of an iteration, of a
/// job with known layers. None of the conventions counts routers, gates of
/// shared experts, or recomputation.
__int128 countIteration(const ir::Spec &S, Convention By);

} // namespace foretrace::flops
