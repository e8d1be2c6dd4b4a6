// SPDX-License-Identifier: Apache-2.0
//
// Changes of a job that a page offers as buttons.
#pragma once

#include "tools/start/JobChanges.h"

namespace foretrace::explore {

struct Suggestions {
  std::string WhyNone; ///< set if there are none
  std::vector<start::JobChange> All;
};

/// Returns changes with which every rank has enough memory.
Suggestions suggestFitting(const start::OpenJob &Job);
/// Returns changes with which an iteration is shorter and the job fits.
Suggestions suggestFaster(const start::OpenJob &Job);

} // namespace foretrace::explore
