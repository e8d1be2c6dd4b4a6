// SPDX-License-Identifier: Apache-2.0
//
// The builders of ir/model/Schedules.def. Each writes the programs of all
// stages but for their end; a size that no schedule of its kind can have was
// refused by `derive`. Private to the passes.
#pragma once

#include "ir/schedule/ScheduleBuilder.h"

namespace foretrace {

#define SCHEDULE(ENUMERATOR, ...)                                              \
  void build##ENUMERATOR(ir::ScheduleBuilder &B, const ir::ParallelSpec &Par);
#include "ir/model/Schedules.def"

/// Returns whether messages of a job's interleaved schedule are sent when they
/// are made (overlap_p2p_comm).
bool overlapsMessages(const ir::ParallelSpec &Par);

} // namespace foretrace
