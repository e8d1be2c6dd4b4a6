// SPDX-License-Identifier: Apache-2.0
//
// The forms a plan is written in. Private to the backend.
#pragma once

#include "backends/optimus/Job.h"
#include "lang/RowWriter.h"
#include "llvm/Support/raw_ostream.h"

namespace foretrace::optimus {

/// Writes one JSON object.
void writeJSON(const PartitionJob &J, llvm::raw_ostream &OS);
/// Writes a row for each stage: a table for reading, or CSV.
void writeStages(const PartitionJob &J, RowFormat As, bool IsExact,
                 llvm::raw_ostream &OS);
/// Writes the log lines of a run that follow from the job.
void writeLog(const PartitionJob &J, llvm::raw_ostream &OS);

} // namespace foretrace::optimus
