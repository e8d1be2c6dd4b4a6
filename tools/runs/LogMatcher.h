// SPDX-License-Identifier: Apache-2.0
//
// Holds the log of a run of Optimus-Prime against its plan. Ranks write to one
// terminal, so lines come in any order and may stand behind each other: what is
// looked for is looked for in the whole text.
#pragma once

#include "backends/optimus/Job.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <set>
#include <string>

namespace foretrace::runs {

/// A place where a log differs from the plan.
struct LogDifference {
  size_t Offset; ///< in the text; npos if it is not said at all
  std::string What, Expected, Seen;
};

struct LogSummary {
  int64_t Statements = 0;  ///< that were compared
  std::set<int64_t> Ranks; ///< that logged something
  int64_t Steps = 0;       ///< that were timed
};

/// Returns whether \p Text is the log of a run.
bool isLog(llvm::StringRef Text);

/// Reports how \p Text differs from what a run of \p J logs.
LogSummary matchLog(const optimus::PartitionJob &J, llvm::StringRef Text,
                    llvm::function_ref<void(LogDifference)> Report);

} // namespace foretrace::runs
