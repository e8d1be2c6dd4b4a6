// SPDX-License-Identifier: Apache-2.0
//
// The forms a partition is written in. Private to the backend.
#pragma once

#include "backends/plan/Rows.h"
#include "lang/RowWriter.h"
#include "llvm/Support/raw_ostream.h"

namespace foretrace::plan {

/// Writes tables with sentences, as text or Markdown.
void writeTables(const ir::Program &P, const PlanRows &R, RowFormat As,
                 bool IsExact, llvm::raw_ostream &OS);
void writeJSON(const ir::Program &P, const PlanRows &R, llvm::raw_ostream &OS);
void writeCSV(const ir::Program &P, const PlanRows &R, llvm::raw_ostream &OS);
/// Stages side by side, their layers as blocks.
void writeSVG(const ir::Program &P, const PlanRows &R, llvm::raw_ostream &OS);

/// Writes the layers of all chunks in one line, in the order of their virtual
/// stages, as --pipeline-model-parallel-layout of Megatron-LM takes them.
void writeLayout(const ir::Program &P, const PlanRows &R,
                 llvm::raw_ostream &OS);

} // namespace foretrace::plan
