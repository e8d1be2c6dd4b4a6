// SPDX-License-Identifier: Apache-2.0
//
// A schedule is folded: its programs do not grow with micro-batches, stages and
// chunks. So a smaller one of the same programs shows what it does.
#ifndef FORETRACE_IR_SCHEDULE_FOLDSCHEDULE_H
#define FORETRACE_IR_SCHEDULE_FOLDSCHEDULE_H

#include "ir/model/Schedule.h"

namespace foretrace::ir {

/// \p S with no more micro-batches than it takes until all stages repeat what
/// they do. Closed forms with numbers of their own can tell them apart: then
/// it is \p S.
Schedule foldMicroBatches(const Schedule &S);

/// \p S with few micro-batches, stages and chunks, of which there are as many
/// kinds: first, last, and two between them. Nothing that closed forms without
/// numbers of their own do is known to tell it from \p S; that is no proof.
/// Never larger than `foldMicroBatches`.
Schedule foldSizes(const Schedule &S);

} // namespace foretrace::ir

#endif
