// SPDX-License-Identifier: Apache-2.0
//
// The options of `emit simai { ... }`.
#pragma once

#include "backends/EmitOptions.h"
#include "backends/aicb/AicbJob.h"
#include "backends/simai/Adapt.h"
#include "backends/simai/SimaiServers.h"

namespace foretrace::simai {

enum class Accounting : unsigned char { Exact, Aicb };

/// Pipeline stage that an exact table describes.
struct StageChoice {
  enum class Kind : unsigned char { Worst, Last, All, Number } K = Kind::Worst;
  int64_t Number = 0;
  SourceRange Range;
};

struct Options {
  std::string File; ///< empty: from the job's name
  simai::Accounting Accounting = simai::Accounting::Exact;
  aicb::Version Version = aicb::Version::V2025_12;
  StageChoice Stage;
  std::vector<std::string> Allow; ///< slugs of diagnostics
  AdaptationPtr Adapt;            ///< null: as it is
  SimaiServers Servers; ///< for the command line, not yet of the cluster
};

Options readOptions(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);

} // namespace foretrace::simai
