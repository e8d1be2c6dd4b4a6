// SPDX-License-Identifier: Apache-2.0
//
// The `flops` backend: what a job computes, and which share of the devices'
// peak that is.
#pragma once

#include "analysis/FlopCounter.h"
#include "backends/figures/Figures.h"
#include "backends/flops/MegatronCount.h"

namespace foretrace::flops {

struct Options : FlopConvention {
  std::string File; ///< empty: from the job's name
  RowFormat Format = RowFormat::Table;
  bool IsExact = false; ///< a table has all digits
  /// Of an iteration, in ns; option::SpanOrEstimate::EstimatedTime if it is to
  /// be estimated.
  std::optional<int64_t> Time;
  /// The other options have no effect on functions of Megatron.
  flops::Convention Convention = Convention::Exact;
};

llvm::ArrayRef<EmitOption> optionTable();
Options readOptions(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
ir::FactSet needs(const Options &O);
bool check(const EmitRequest &Request, const Options &O,
           DiagnosticEngine &Diags);
/// Writes the FLOPs of a token and of an iteration, by kind of layer and of
/// stage; forward, backward and recomputed. A multiply-add counts as two.
Figures figures(const EmitRequest &Request, const Options &O);

} // namespace foretrace::flops
