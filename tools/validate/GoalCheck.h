// SPDX-License-Identifier: Apache-2.0
//
// What LogGOPSim or htsim would not take, or take for something else, in a GOAL
// schedule. The labels of one rank are in memory at a time; its operations
// stay, unless there are too many, for the replay.
#pragma once

#include "tools/validate/Findings.h"

namespace foretrace::validate {

/// Reports the defects of the schedule \p Text of the file \p Path. Returns one
/// line that says what it holds, with all digits if \p IsExact.
std::string checkGoal(llvm::StringRef Text, llvm::StringRef Path, bool IsExact,
                      Findings &Out);

} // namespace foretrace::validate
