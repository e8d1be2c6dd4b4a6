// SPDX-License-Identifier: Apache-2.0
//
// The `params` backend: how many parameters the model has, by kind of layer and
// by part; or how many a rank of each stage stores.
#pragma once

#include "backends/figures/Figures.h"

namespace foretrace::params {

/// Parameters to count.
enum class CountOf : unsigned char { Model, Stage };

struct Options {
  std::string File; ///< empty: from the job's name
  RowFormat Format = RowFormat::Table;
  bool IsExact = false; ///< a table has all digits
  CountOf By = CountOf::Model;
};

llvm::ArrayRef<EmitOption> optionTable();
Options readOptions(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
/// Returns the facts of the model alone, or those of stages if requested.
ir::FactSet needs(const Options &O);
bool check(const EmitRequest &Request, const Options &O,
           DiagnosticEngine &Diags);
/// Writes `parameters: N` and `activated: N` (a token meets top-k of the routed
/// experts) first. Counts the model as published: without vocabulary padding, a
/// tied embedding once.
Figures figures(const EmitRequest &Request, const Options &O);

} // namespace foretrace::params
