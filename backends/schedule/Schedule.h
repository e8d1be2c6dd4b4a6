// SPDX-License-Identifier: Apache-2.0
//
// The `schedule` backend: what every pipeline stage runs, and when: a grid for
// a terminal, a picture, PyTorch's schedule file, or exact numbers. It unfolds
// the schedule of the IR.
#pragma once

#include "backends/Backend.h"
#include "backends/schedule/Figures.h"

namespace foretrace::schedule {

enum class ScheduleForm : unsigned char { Grid, CSV, SVG, JSON };

/// Messages of a CSV.
enum class CSVMessages : unsigned char { None, Lowered, Calls };

struct Options {
  std::string File; ///< empty: from the job's name
  ScheduleForm Format = ScheduleForm::Grid;
  CSVMessages Comms = CSVMessages::None;
  StepTime Time = StepTime::Unit;
};

llvm::ArrayRef<EmitOption> optionTable();
Options readOptions(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
ir::FactSet needs(const Options &O);
bool check(const EmitRequest &Request, const Options &O,
           DiagnosticEngine &Diags);
llvm::Error emit(const EmitRequest &Request, const Options &O, OutputSet &Out);

} // namespace foretrace::schedule
