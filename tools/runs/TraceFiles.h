// SPDX-License-Identifier: Apache-2.0
//
// The trace files of a run, and their lines.
#pragma once

#include "tools/runs/TraceReader.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace foretrace::runs {

/// The files among \p Given, and all `*.txt` of the folders, in order, each
/// file once however often it is given. An error if there is none.
llvm::Expected<std::vector<std::string>>
listTraces(const std::vector<std::string> &Given);

/// A trace file and the rank it is of.
struct TraceFile {
  std::string Path;
  int64_t Rank;
};

/// A file that is no trace of a rank of the job.
struct NoTrace {
  std::string Path;
  int64_t Line; ///< that shows it; 0 for the whole file
  std::string Why;
};

struct FoundTraces {
  std::vector<TraceFile> Traces; ///< by rank
  std::vector<NoTrace> Others;
};

/// Reads who left each of the files that `listTraces` lists. An error if none
/// has a row of a rank below \p World.
llvm::Expected<FoundTraces> findTraces(const std::vector<std::string> &Given,
                                       int64_t World);

/// A line of a trace.
struct TraceLine {
  int64_t Number; ///< from 1
  /// The row, as far as it could be read; its rank is -1 if unknown.
  const SeenRow &Row;
  std::string Malformed; ///< why it is not a row; empty if it is
};

/// Calls \p Visit with every line of a trace that is not blank until it returns
/// false. An error if there is more than \p MaxBytes to read by then.
llvm::Error forEachLine(llvm::StringRef Path,
                        llvm::function_ref<bool(const TraceLine &)> Visit,
                        size_t MaxBytes = SIZE_MAX);

} // namespace foretrace::runs
