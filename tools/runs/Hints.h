// SPDX-License-Identifier: Apache-2.0
//
// Why traces differ from their job: other values of its keys, with which they
// don't, or hardly.
#pragma once

#include "backends/megatron/Trace.h"
#include "tools/compiler/CompiledJob.h"
#include "tools/runs/TraceFiles.h"
#include <set>

namespace foretrace::runs {

/// Another value of one key.
struct Hint {
  std::string Key; ///< "parallel.ep"
  std::string Planned, Fits;
  SourceRange Range;      ///< of the planned value; invalid for a default
  size_t Divergences = 0; ///< that are left with it, in a sample
};

/// Tries other values for the keys of \p Job, one at a time, and returns those
/// that fit \p Traces, which differ, best and much better. \p Job is as the
/// frontend left it; \p Numbers were seen instead of expected ones.
std::vector<Hint> findHints(CompiledJob &Job, megatron::Instrumentation How,
                            llvm::ArrayRef<TraceFile> Traces,
                            const std::set<int64_t> &Numbers);

} // namespace foretrace::runs
