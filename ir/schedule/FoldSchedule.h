// SPDX-License-Identifier: Apache-2.0
//
// Folding of schedules. The programs of a schedule do not grow with
// micro-batches, stages and chunks, so a smaller schedule with the same
// programs represents it.
#pragma once

#include "ir/model/Schedule.h"

namespace foretrace::ir {

/// Returns as many micro-batches as all stages of \p S need to repeat their
/// actions. If closed forms contain numbers of their own that could distinguish
/// them, returns those of \p S.
int64_t fewMicroBatches(const Schedule &S);

/// Returns \p S with so many micro-batches.
Schedule foldMicroBatches(const Schedule &S);

/// Returns the number of micro-batches after which the programs of \p S repeat
/// what they do.
int64_t periodOf(const Schedule &S);

/// Returns \p S with few micro-batches, stages and chunks: the first, the last,
/// and two between them. No closed form without numbers of its own is known to
/// distinguish it from \p S, but this is not proved. The result is never larger
/// than that of `foldMicroBatches`.
Schedule foldSizes(const Schedule &S);

} // namespace foretrace::ir
