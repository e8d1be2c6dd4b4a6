// SPDX-License-Identifier: Apache-2.0
#include "ir/verify/VerifyParts.h"
#include "lang/diagnostics/IR.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Chunks of the stages, which all have as many.
static int64_t chunksOf(const Stage &S) {
  Quantity<struct ChunkUnit> Sum;
  for (const ChunkRun &C : S.Chunks)
    Sum += Quantity<struct ChunkUnit>(C.Count);
  return Sum.isOverflow() ? INT64_MAX : Sum.value();
}

bool foretrace::ir::verifySizes(const ParallelSpec &P, PipelineSizes Of,
                                DiagnosticEngine &Diags) {
  using Count = Quantity<struct PartUnit>;
  const std::pair<llvm::StringLiteral, Count> Rows[] = {
      {"the number of chunks", Count(Of.Stages) * Of.Chunks},
      {"the number of steps", Count(Of.MicroBatches) * Of.Chunks},
      {"the number of steps in a group", Count(Of.Group) * Of.Chunks}};
  for (const auto &[What, Size] : Rows)
    if (Size.isOverflow()) {
      Diags.report(P.Pp.Range, diag::VerifyOverflow, What);
      return false;
    }
  return true;
}

void foretrace::ir::verifySchedule(const Program &P, DiagnosticEngine &Diags) {
  const ParallelSpec &Par = P.Spec.Parallel;
  const Schedule &S = P.Schedule;
  if (!verifySizes(Par, {S.Stages, S.Chunks, S.MicroBatches, S.Group}, Diags))
    return;
  const unsigned Before = Diags.errorCount();
  auto Expect = [&](llvm::StringRef What, int64_t Has, int64_t Needed) {
    if (Has != Needed)
      Diags.report(Par.Pp.Range, diag::VerifySchedule, What, Has, Needed);
  };
  Expect("stages", S.Stages, P.Mesh[Axis::Pp]);
  if (Par.Vpp.isPresent() && S.Placement != PlacementKind::Bidirectional)
    Expect("chunks", S.Chunks, *Par.Vpp);
  if (S.Placement != PlacementKind::Loop)
    Expect("chunks", S.Chunks, 2);
  if (!P.Stages.empty())
    Expect("chunks", S.Chunks, chunksOf(P.Stages.front()));
  if (Par.Ga.isPresent())
    Expect("micro-batches", S.MicroBatches, *Par.Ga);
  int64_t Next = 0;
  for (const StageProgram &Of : S.Programs) {
    Expect("a program of stage", Of.First, Next);
    if (Of.First != Next)
      return;
    Next = Of.First + Of.Count;
  }
  Expect("programs up to stage", Next, S.Stages);
  if (Diags.errorCount() == Before)
    verifyMessages(P, Diags);
}
