// SPDX-License-Identifier: Apache-2.0
//
// Measured times in the groups of the public generator, in ns.
#pragma once

#include "backends/aicb/AicbJob.h"

namespace foretrace::simai {

/// Untimed tables have 1 everywhere.
struct AicbTimes {
  int64_t Embedding = 1;
  int64_t Attention = 1;
  int64_t Mlp = 1;
  int64_t GradForward = 1, GradBackward = 1;
  /// Latent attention's own sections, in row order: q_lora, q, kv_lora, kv, o.
  int64_t Latent[5] = {1, 1, 1, 1, 1};
};

AicbTimes groupTimes(const ir::Spec &S, const aicb::GeneratorJob &J);

} // namespace foretrace::simai
