// SPDX-License-Identifier: Apache-2.0
//
// A sweep whose accepted points are columns in memory. Nothing in here knows
// Python.
#pragma once

#include "tools/python/HeldJob.h"
#include "tools/sweep/Report.h"
#include <atomic>

namespace foretrace::python {

/// A sweep as its caller asks for it.
struct SweepSource {
  JobSource Of;
  /// `sweep` and `key=values`, `where` and a condition ...: SweepRequest.
  std::vector<SweepRequest::Given> Entries;
  std::string AxesFile;
  /// Metrics to keep of each point; those that any point has if not set.
  std::optional<std::vector<std::string>> Columns;
  unsigned Threads = 0; ///< as many as there are processors
};

/// A metric of all points.
struct SweepColumn {
  std::string Name, Unit;
  std::vector<int64_t> Values; ///< by row; ir::NoValue if a point has none
};

/// Points that are rejected alike.
struct SweepRejection {
  std::string Slug, Key;
  int64_t Count, Example;
};

/// Results of a sweep, by ascending numbers of points.
struct SweepFindings {
  int64_t NumPoints = 0, NumAccepted = 0;
  std::vector<int64_t> Ids; ///< of the points that are kept
  std::vector<SweepColumn> Columns;
  std::vector<SweepRejection> Rejected; ///< the most frequent first
  std::optional<int64_t> Best;          ///< the best of all accepted points
};

/// Runs once.
class HeldSweep {
public:
  explicit HeldSweep(SweepSource Asked) : Asked(std::move(Asked)) {}

  /// Evaluates all points, unless \p Stop becomes true, which is a failure.
  CallOutcome run(const std::atomic<bool> &Stop);

  /// After a run without errors.
  SweepFindings &findings() { return Found; }
  const sweep::Space &space() const { return S->Space; }

private:
  CallOutcome evaluate(Compiler &Session, DiagnosticEngine &Diags,
                       const std::atomic<bool> &Stop);
  llvm::Error selectColumns();
  void append(const sweep::Tally &T);
  void order(const sweep::Summary &Of);

  const SweepSource Asked;
  std::optional<sweep::Sweep> S;
  std::vector<size_t> Metrics; ///< of the columns
  SweepFindings Found;
};

} // namespace foretrace::python
