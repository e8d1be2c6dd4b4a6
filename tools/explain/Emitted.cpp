// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/Emitted.h"
#include "ir/model/Ranks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace::explain {

ir::EmitSpec firstBlock(const ir::Spec &Job, StringRef Backend) {
  for (const ir::EmitSpec &E : Job.Emits)
    if (E.Backend == Backend)
      return E;
  return ir::EmitSpec::plain(Backend);
}

Error errorOf(StringRef Option, const DiagnosticEngine &Diags) {
  const auto First = find_if(Diags.diagnostics(), [](const Diagnostic &D) {
    return D.Level == Severity::Error;
  });
  return createStringError(Twine(Option) + ": " + First->text());
}

Error checkRank(const ir::Program &P, int64_t Rank) {
  const int64_t World = *P.Spec.Parallel.World;
  if (Rank >= 0 && Rank < World)
    return Error::success();
  return createStringError(
      formatv("--rank: the job has {0} ranks, from 0", World).str());
}

int64_t stageOf(const ir::Program &P, int64_t Rank) {
  return ir::RankMap(P.Mesh, *P.Spec.Parallel.RankOrder)
      .coordinate(Rank, ir::Axis::Pp);
}

} // namespace foretrace::explain
