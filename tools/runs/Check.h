// SPDX-License-Identifier: Apache-2.0
//
// Holds what a real run left against the job it should be of.
#pragma once

#include "lang/Diagnostic.h"
#include "lang/SourceFiles.h"
#include "tools/compiler/CompiledJob.h"
#include "tools/runs/Matcher.h"
#include "tools/runs/RunChecker.h"
#include "tools/runs/RunReport.h"
#include "llvm/Support/MemoryBuffer.h"

namespace foretrace::runs {

/// Differences between a run and its plan that are known and allowed: a table
/// of a TOML file.
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

struct CheckOptions {
  std::vector<Allowance> Allowed;
  /// Divergences told of traces that differ alike, and communicators; the rest
  /// is counted.
  size_t Limit = 10;

  bool allows(const Divergence &D, int64_t Rank) const;
};

/// Compares \p Run with \p P, which has the facts of TracePlan::needs, and
/// reports differences to \p Out. \p Job is as the frontend left it: other
/// values of its keys are tried.
CheckSummary checkTraces(CompiledJob &Job, const ir::Program &P,
                         const TracedRun &Run, const CheckOptions &Options,
                         RunReport &Out);

/// The only file of \p Paths, if it is the log of a run of Optimus-Prime; null
/// if not. An error if it can't be read.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
openLog(llvm::ArrayRef<std::string> Paths);

/// Holds \p Log against the plan of \p Job. Nothing, and nothing told, if the
/// job has errors, which are reported.
std::optional<CheckSummary> checkLog(CompiledJob &Job,
                                     const llvm::MemoryBuffer &Log,
                                     const CheckOptions &Options,
                                     RunReport &Out);

} // namespace foretrace::runs
