// SPDX-License-Identifier: Apache-2.0
//
// The parts of the verifier. Each reports its findings and continues. Ids out
// of range cannot be written as text; they are bugs of a pass and therefore
// asserted. Private to the IR.
#pragma once

#include "ir/model/Program.h"
#include "lang/Diagnostic.h"

namespace foretrace::ir {

/// Verifies the keys that `derive` or later passes read, and the mesh that
/// follows from them. Returns false if the ranks of the mesh cannot be counted,
/// so that no other part can run.
bool verifySpec(const Program &P, DiagnosticEngine &Diags);
/// Verifies values and ops of one block.
void verifyBlock(const Program &P, const Block &B, DiagnosticEngine &Diags);
/// Verifies that signatures match their blocks and those of their neighbours.
void verifySignatures(const Program &P, DiagnosticEngine &Diags);
/// Verifies that stages contain each layer once and in order.
void verifyStages(const Program &P, DiagnosticEngine &Diags);
/// Verifies that all members of a group issue the same collectives in the same
/// order, and none waits forever. The program has steps.
void verifyCollectives(const Program &P, DiagnosticEngine &Diags);
/// Sizes of a pipeline.
struct PipelineSizes {
  int64_t Stages, Chunks, MicroBatches, Group;
};
/// Verifies that parts of the model and steps of a stage can be counted.
/// Returns false if not, so that no other part can run.
bool verifySizes(const ParallelSpec &P, PipelineSizes Of,
                 DiagnosticEngine &Diags);
/// Verifies that the schedule has this job's stages, chunks and micro-batches.
void verifySchedule(const Program &P, DiagnosticEngine &Diags);
/// Verifies that every message of the schedule is received and no stage waits
/// forever, if the schedule is not too long to run.
void verifyMessages(const Program &P, DiagnosticEngine &Diags);

/// Returns the name of a stage in diagnostics: `stage 1 (rank 8)`. The rank is
/// in the pipeline of rank 0, which represents all others.
std::string describeStage(const Program &P, int64_t Stage);

} // namespace foretrace::ir
