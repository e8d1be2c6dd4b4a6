// SPDX-License-Identifier: Apache-2.0
#include "ir/VerifyParts.h"
#include "llvm/Support/MathExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

void foretrace::ir::verifySchedule(const Program &P, DiagnosticEngine &Diags) {
  const ParallelSpec &Par = P.Spec.Parallel;
  const Schedule &S = P.Schedule;
  const unsigned Before = Diags.errorCount();
  auto Expect = [&](llvm::StringRef What, int64_t Has, int64_t Needed) {
    if (Has != Needed)
      Diags.report(Par.Pp.Range, diag::VerifySchedule, What, Has, Needed);
  };
  Expect("stages", S.Stages, P.Mesh[Axis::Pp]);
  int64_t Steps;
  if (Par.Vpp.isPresent())
    Expect("chunks", S.Chunks, *Par.Vpp);
  if (Par.Ga.isPresent() && !llvm::MulOverflow(*Par.Ga, S.Chunks, Steps))
    Expect("steps", S.Steps, Steps);
  Expect("steps", S.Steps, S.microBatches() * S.Chunks);
  // The last stage warms up least.
  int64_t Least;
  if (llvm::MulOverflow(S.WarmupPerStage, S.Stages - 1, Least) ||
      S.WarmupBase < Least)
    Diags.report(Par.Pp.Range, diag::VerifyWarmup, S.WarmupBase,
                 S.WarmupPerStage, S.Stages);
  if (Diags.errorCount() == Before)
    verifyMessages(P, Diags);
}
