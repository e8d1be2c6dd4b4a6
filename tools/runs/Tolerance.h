// SPDX-License-Identifier: Apache-2.0
//
// Differences between a run and its plan that are known and allowed: a TOML
// file with a table for each.
#pragma once

#include "lang/Diagnostic.h"
#include "lang/SourceFiles.h"
#include "tools/runs/Matcher.h"

namespace foretrace::runs {

/// One table.
struct Allowance {
  std::string Name;
  std::vector<diag::Id> Kinds;  ///< empty: all
  std::vector<std::string> Ops; ///< empty: all
  std::vector<int64_t> Ranks;   ///< empty: all

  bool covers(const Divergence &D, int64_t Rank) const;
};

/// Reads \p Path; reports what is unknown in it. Nothing after an error.
std::optional<std::vector<Allowance>> readTolerance(llvm::StringRef Path,
                                                    SourceFiles &Sources,
                                                    DiagnosticEngine &Diags);

} // namespace foretrace::runs
