// SPDX-License-Identifier: Apache-2.0
//
// The forms a schedule is written in. Private to the backend.
#pragma once

#include "backends/schedule/Figures.h"
#include "llvm/Support/raw_ostream.h"

namespace foretrace::schedule {

/// Writes the stages as rows, with a column for each unit of time.
void writeGrid(const ir::Schedule &S, const PipelineFigures &F,
               llvm::raw_ostream &OS);
/// Writes the grid as a picture.
void writeSVG(const ir::Schedule &S, const PipelineFigures &F,
              llvm::raw_ostream &OS);
void writeJSON(const ir::Schedule &S, const PipelineFigures &F,
               llvm::raw_ostream &OS);

} // namespace foretrace::schedule
