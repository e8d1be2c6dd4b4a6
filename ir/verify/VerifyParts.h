// SPDX-License-Identifier: Apache-2.0
//
// The parts of the verifier. Each reports what it finds and goes on. Ids out of
// range can't be written as text; they are bugs of a pass, hence asserted.
// Private to the IR.
#ifndef FORETRACE_IR_VERIFY_VERIFYPARTS_H
#define FORETRACE_IR_VERIFY_VERIFYPARTS_H

#include "ir/model/Program.h"
#include "lang/Diagnostic.h"

namespace foretrace::ir {

/// Keys that `derive` or later passes read, and the mesh that follows. False
/// if the ranks of the mesh can't be counted, so that nothing can follow.
bool verifySpec(const Program &P, DiagnosticEngine &Diags);
/// Values and ops of one block.
void verifyBlock(const Program &P, const Block &B, DiagnosticEngine &Diags);
/// That signatures are of their blocks, and those of neighbours fit.
void verifySignatures(const Program &P, DiagnosticEngine &Diags);
/// That stages hold the layers, each once and in order.
void verifyStages(const Program &P, DiagnosticEngine &Diags);
/// That all members of a group issue the same collectives in the same order,
/// and none waits for ever; of a program with steps.
void verifyCollectives(const Program &P, DiagnosticEngine &Diags);
/// What a pipeline has.
struct PipelineSizes {
  int64_t Stages, Chunks, MicroBatches, Group;
};
/// That parts of the model, and steps of a stage, can be counted; false if
/// nothing can follow.
bool verifySizes(const ParallelSpec &P, PipelineSizes Of,
                 DiagnosticEngine &Diags);
/// That the schedule is one of this job's stages, chunks and micro-batches.
void verifySchedule(const Program &P, DiagnosticEngine &Diags);
/// That every message of the schedule is received and no stage waits forever;
/// of schedules that are not too long to run.
void verifyMessages(const Program &P, DiagnosticEngine &Diags);

/// What diagnostics call a stage: `stage 1 (rank 8)`. The rank is of the
/// pipeline of rank 0; others are like it.
std::string describeStage(const Program &P, int64_t Stage);

} // namespace foretrace::ir

#endif
