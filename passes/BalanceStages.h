// SPDX-License-Identifier: Apache-2.0
//
// The split of layers whose largest stage is smallest. Private to the passes.
#pragma once

#include "ir/model/Program.h"

namespace foretrace {

/// Layers of each of pp stages, at least one each, by `balance` of the job: the
/// parameters, the work or the peak memory of a rank while its layers run. The
/// embedding weighs on the first stage and the head on the last. The largest
/// stage is as small as it can be, then, without the first, the largest of the
/// rest, and so on. Nothing if weights overflow. Takes time by stages and kinds
/// of layers, not by layers.
std::optional<std::vector<int64_t>> balancedLayers(const ir::Program &P);

} // namespace foretrace
