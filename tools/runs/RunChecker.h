// SPDX-License-Identifier: Apache-2.0
//
// Holds the traces of a run against its plan: each for itself, then all
// together. Whoever uses what a run left asks this first.
#pragma once

#include "tools/runs/TracePlan.h"
#include <set>

namespace foretrace::runs {

/// The traces of a run, by rank, and how they were made.
struct TracedRun {
  std::vector<TraceFile> Files; ///< at least one
  std::vector<NoTrace> Others;  ///< given as traces
  megatron::Instrumentation How;
};

/// Returns the traces of \p P among \p Given, files and folders. \p OfCalls
/// gets notes on calls that are not logged. An error if no file can be compared
/// with the plan; `compare` reports the other files.
llvm::Expected<TracedRun> openRun(const ir::Program &P,
                                  const std::vector<std::string> &Given,
                                  DiagnosticEngine &OfCalls);

/// First `hold` of all files, then `compare`.
class RunChecker {
public:
  using Reporter =
      llvm::function_ref<void(const TraceFile &, const Divergence &)>;

  /// \p P has schedule and sync; both outlive this.
  RunChecker(const ir::Program &P, const TracedRun &Run);

  /// Reports how a trace of the run differs from its plan. An error if it
  /// can't be read.
  llvm::Error hold(const TraceFile &File, const Matcher::Reporter &Report);
  /// Reports contradictions between traces, which no single trace shows.
  void compare(Reporter Report) const;

  const TracePlan &plan() const { return Plan; }
  int64_t rows() const { return Rows; }
  /// Returns the iterations of the rank that ran most.
  int64_t iterations() const;
  const std::set<int64_t> &ranks() const { return Ranks; }

private:
  void compareFiles(Reporter Report) const;
  void compareIterations(Reporter Report) const;
  void takeReceived(const TraceFile &File, const Matcher &M);
  void sumReceived(llvm::ArrayRef<int64_t> Group);

  const ir::Program &P;
  const TracedRun &Run;
  const TracePlan Plan;
  int64_t Rows = 0;
  std::set<int64_t> Ranks;
  /// Where each iteration of a trace begins, and where they end.
  struct Iterations {
    TraceFile File;
    std::vector<int64_t> Begins;
    size_t count() const { return Begins.size() - 1; }
  };
  std::vector<Iterations> Done;
  /// By rank, until all of its expert group are there.
  std::map<int64_t, std::pair<TraceFile, std::vector<ReceivedRows>>> Received;
  std::vector<std::pair<TraceFile, Divergence>> WrongSums;
};

} // namespace foretrace::runs
