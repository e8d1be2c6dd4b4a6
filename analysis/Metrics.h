// SPDX-License-Identifier: Apache-2.0
//
// Numbers by which jobs are compared: of each figure of ir/model/Totals.def,
// and of what is sent among each group of ir/model/Groups.def, the most that a
// rank has.
#ifndef FORETRACE_ANALYSIS_METRICS_H
#define FORETRACE_ANALYSIS_METRICS_H

#include "ir/model/Measure.h"

namespace foretrace {

struct Metric {
  std::string Name; ///< `memory`; of a group `messages_dp_cp`
  std::string Doc;
  bool IsBytes;
};

/// The same for all jobs.
llvm::ArrayRef<Metric> allMetrics();

/// Those of \p P, which has the totals of its stages, in the same order; 0 for
/// a group that says nothing.
std::vector<ir::ExprId> metricsOf(ir::ExprScope P);

} // namespace foretrace

#endif
