// SPDX-License-Identifier: Apache-2.0
//
// Which of the keys that differ are why a number does.
#pragma once

#include "tools/diff/Changes.h"
#include "tools/diff/Keys.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace foretrace::diff {

/// The figures of a job.
struct Answered {
  const Answers &Of;
  /// What is said of the job with the key at that path as the other job has it;
  /// nothing if such a job is refused, or cannot be said.
  llvm::function_ref<std::optional<Answers>(llvm::StringRef)> Vary;
};

/// Sets FigureChange::By. A key is a cause of what differs if
///  * the expression of one side has it, or follows from it by definitions, or
///  * the one job differs there if it takes over this key alone from the other.
/// Where no key is a cause, all are that cannot be told apart that way.
void findCauses(std::vector<FigureChange> &Changes,
                llvm::ArrayRef<KeyChange> Keys, const Answered &Before,
                const Answered &After);

} // namespace foretrace::diff
