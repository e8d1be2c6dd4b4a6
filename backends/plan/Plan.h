// SPDX-License-Identifier: Apache-2.0
//
// The `plan` backend: which layers each pipeline stage holds, and what that
// weighs: a table, JSON, CSV, Markdown, or a picture.
#pragma once

#include "backends/Backend.h"

namespace foretrace::plan {

/// The forms it is written in.
enum class PlanForm : unsigned char { Table, JSON, CSV, Markdown, SVG, Layout };

struct Options {
  std::string File; ///< empty: from the job's name
  PlanForm As = PlanForm::Table;
  bool IsExact = false; ///< tables have all digits
  bool Times = false;
};

llvm::ArrayRef<EmitOption> optionTable();
Options readOptions(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
ir::FactSet needs(const Options &O);
bool check(const EmitRequest &Request, const Options &O,
           DiagnosticEngine &Diags);
llvm::Error emit(const EmitRequest &Request, const Options &O, OutputSet &Out);
/// Derives a row, from 1, of the first table: parameters, saved activations,
/// FLOPs and messages of a chunk. The row after the last one is the imbalance
/// of the stages.
llvm::Expected<std::vector<Subject>>
locate(const EmitRequest &Request, const Options &O, const CellQuery &Asked);

} // namespace foretrace::plan
