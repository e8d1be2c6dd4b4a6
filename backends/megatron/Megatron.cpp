// SPDX-License-Identifier: Apache-2.0
#include "backends/megatron/Megatron.h"
#include "backends/megatron/Options.h"
#include "backends/megatron/Skeleton.h"
#include "ir/Ranks.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace foretrace;
using namespace foretrace::megatron;

ir::FactSet foretrace::megatron::prepare(const ir::EmitSpec &Emit,
                                         DiagnosticEngine &Diags) {
  readOptions(Emit, Diags);
  return {ir::Fact::Recompute, ir::Fact::Scheduled, ir::Fact::Sync};
}

/// The ranks asked for, all of them if none is.
static std::vector<RankRange> ranksOf(const EmitRequest &Request,
                                      const Options &O) {
  if (!O.Ranks.empty())
    return O.Ranks;
  return {{0, *Request.Program.Spec.Parallel.World - 1, {}}};
}

bool foretrace::megatron::check(const EmitRequest &Request,
                                DiagnosticEngine &Diags) {
  DiagnosticEngine Known; // `prepare` has reported these
  const Options O = readOptions(Request.Emit, Known);
  const int64_t World = *Request.Program.Spec.Parallel.World;
  bool IsGood = true;
  for (const RankRange &R : ranksOf(Request, O))
    if (R.Last >= World) {
      Diags.report(R.Range, diag::MegatronRank, R.Last, World);
      IsGood = false;
    }
  return IsGood;
}

llvm::Error foretrace::megatron::emit(const EmitRequest &Request,
                                      OutputSet &Out, DiagnosticEngine &) {
  DiagnosticEngine Known; // `prepare` has reported these
  const Options O = readOptions(Request.Emit, Known);
  const ir::Program &P = Request.Program;
  const ir::RankMap Map(P.Mesh, *P.Spec.Parallel.RankOrder);
  const Skeleton Trace(P, O.How);
  for (const RankRange &Range : ranksOf(Request, O))
    for (int64_t Rank = Range.First; Rank <= Range.Last; ++Rank) {
      llvm::SmallString<64> Path(O.Dir);
      llvm::sys::path::append(Path, "rank" + llvm::Twine(Rank) + ".txt");
      auto Write = [&](llvm::raw_ostream &OS) {
        Trace.forEachRow(Map.coordinate(Rank, ir::Axis::Pp), [&](const Row &R) {
          writeRow(R, Rank, OS);
          return true;
        });
      };
      if (llvm::Error E = Out.add(Path, Write))
        return E;
    }
  return llvm::Error::success();
}
