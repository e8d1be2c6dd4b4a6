// SPDX-License-Identifier: Apache-2.0
//
// A structure of jobs, and what a worker knows of its points. Private to the
// sweep.
#pragma once

#include "tools/sweep/AxisOrder.h"
#include "tools/sweep/PointFilter.h"
#include "tools/sweep/StructureTimes.h"

namespace foretrace::sweep {

/// Returns the metrics of a program, nothing for those that it lacks or that
/// \p S does not measure, and the keys of the job.
std::vector<std::optional<ir::ExprId>>
figuresIn(ir::ExprScope P, const Sweep &S, llvm::ArrayRef<ir::Key> JobKeys,
          Validity For);

struct KnownStructure {
  KnownStructure(Structure Made, const Sweep &S, const AxisOrder &P,
                 llvm::ArrayRef<ir::Key> JobKeys,
                 std::shared_ptr<StageSplits> Splits,
                 const ColumnStorage &In);

  const Structure Of;
  std::unique_ptr<StructureTimes> Times; ///< of a sweep that reads time
  std::vector<bool> Lacks;    ///< by metric and key: whether the jobs lack it
  const ir::ExprCode Figures; ///< the metrics, and the keys of the job
  StructureColumns Columns;
  StructureRow Row;
  /// By check: how many points that lie side by side are rejected if one is.
  std::vector<int64_t> Spans;
  std::vector<Rejection> Violated; ///< by check, since the last flush
  Rejection Overflow;
};

} // namespace foretrace::sweep
