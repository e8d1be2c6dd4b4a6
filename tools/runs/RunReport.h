// SPDX-License-Identifier: Apache-2.0
//
// What holding a run against its job gives, reported as diagnostics for any
// client.
#pragma once

#include "ir/model/Ranks.h"
#include "lang/DiagnosticClient.h"
#include "tools/runs/Hints.h"
#include "tools/runs/Matcher.h"
#include "tools/runs/TraceFiles.h"
#include <map>
#include <set>

namespace foretrace::runs {

/// The place where each communicator of a run first left the plan.
class Communicators {
public:
  explicit Communicators(const ir::RankMap &Map) : Map(Map) {}

  /// Takes a divergence of a trace; one without a communicator, or with one of
  /// a single rank, is left out.
  void take(const TraceFile &Of, const Divergence &D);

  /// A communicator and what of it came first in the order of the plan.
  struct First {
    llvm::StringRef Group; ///< as in ir/model/Groups.def
    std::vector<int64_t> Ranks;
    std::string Path;
    int64_t Rank = 0;
    Divergence What;
  };
  /// In the order of ir/model/Groups.def and of ranks.
  std::vector<First> list() const;

private:
  const ir::RankMap &Map;
  /// By index of the process group, and first member.
  std::map<std::pair<size_t, int64_t>, First> Found;
};

/// Traces that differ alike, line by line.
struct AlikeTraces {
  std::vector<TraceFile> Traces;       ///< by rank; at least one
  std::vector<Divergence> Divergences; ///< the first of each trace
  size_t Omitted = 0;                  ///< more of each trace
};

/// Counts of what was checked.
struct CheckSummary {
  /// All ranks below World that are not in \p Seen are missing.
  void setRanks(const std::set<int64_t> &Seen);

  int64_t Ranks = 0, World = 0, Rows = 0, Iterations = 0;
  /// Ranks that left nothing: first and last of each row of them.
  std::vector<std::pair<int64_t, int64_t>> Missing;
  megatron::Instrumentation How;
  int64_t Divergences = 0, Tolerated = 0;
  bool IsLog = false; ///< of one terminal, not traces of ranks
};

/// Receives the findings of a run, the most telling first.
class RunReport {
public:
  /// Ranges of the job are of \p Sources.
  RunReport(DiagnosticClient &Out, const SourceFiles &Sources)
      : Out(Out), Sources(Sources) {}

  void add(const Hint &H);
  void add(const AlikeTraces &F);
  void add(const Communicators::First &F);
  /// \p Count more communicators are not reported.
  void omitCommunicators(size_t Count);
  void finish(const CheckSummary &S);

  /// Returns the columns that a client of rows prints.
  static std::vector<RowColumn> columns();

private:
  void show(const Diagnostic &D) { Out.show(D, Sources); }
  void notePlace(Diagnostic &D, SourceRange Why) const;

  DiagnosticClient &Out;
  const SourceFiles &Sources;
};

/// Prints a line for people: what was checked, and how many divergences it has.
void printSummary(const CheckSummary &S, llvm::raw_ostream &OS);
/// Prints the summary as one JSON object.
void printSummaryJSON(const CheckSummary &S, llvm::raw_ostream &OS);

} // namespace foretrace::runs
