// SPDX-License-Identifier: Apache-2.0
//
// The `volume` backend: communication volume of a job by group, phase and
// tier of its cluster.
#pragma once

#include "analysis/Flows.h"
#include "backends/figures/Figures.h"

namespace foretrace::volume {

struct Options {
  std::string File; ///< empty: from the job's name
  RowFormat Format = RowFormat::Table;
  bool IsExact = false; ///< a table has all digits
  FlowSpan Per = FlowSpan::Iteration;
};

llvm::ArrayRef<EmitOption> optionTable();
Options readOptions(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
ir::FactSet needs(const Options &O);
bool check(const EmitRequest &Request, const Options &O,
           DiagnosticEngine &Diags);
/// Writes the bytes of a job by the keys that cause them, by kinds of groups,
/// collectives, phases, stages, and tiers of the cluster.
Figures figures(const EmitRequest &Request, const Options &O);

} // namespace foretrace::volume
