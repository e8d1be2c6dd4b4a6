// SPDX-License-Identifier: Apache-2.0
//
// From the `sweep` section of a job, a file of axes and the command line to a
// SweepSpec.
#pragma once

#include "frontend/Frontend.h"
#include "frontend/sweep/SweepSpec.h"

namespace foretrace {

/// Parts of a sweep besides its job.
struct SweepRequest {
  /// A metric of every point; expressions refer to it by name.
  struct Metric {
    std::string Name;
    SweepSpec::Type Is;
  };
  std::vector<Metric> Metrics;
  /// A file of TOML with a table `axes`, or empty.
  std::string File;
  /// `sweep` and `key=values`, `metric` and `name=expression`, `where`,
  /// `minimize`, `maximize`, `keep`. An axis takes the place of that of the
  /// job or the file.
  struct Given {
    std::string Flag, Text;
  };
  std::vector<Given> Entries;
  bool IsAlone = false; ///< without the section of the job
};

/// Compiles the sweep of the job at \p Path; nothing after an error. -D changes
/// params of the job; a key that it gives is no axis of the section any more.
std::optional<SweepSpec> compileSweep(ParsedFiles &Files, llvm::StringRef Path,
                                      const FrontendOptions &Options,
                                      const SweepRequest &Request,
                                      DiagnosticEngine &Diags);

} // namespace foretrace
