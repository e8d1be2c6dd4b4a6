// SPDX-License-Identifier: Apache-2.0
#include "backends/megatron/Megatron.h"
#include "backends/megatron/Modes.h"
#include "backends/megatron/Options.h"
#include "backends/megatron/RankTexts.h"
#include "backends/megatron/Replay.h"
#include "backends/megatron/Skeleton.h"
#include "backends/megatron/Unlogged.h"
#include "ir/model/Ranks.h"
#include "lang/diagnostics/Backends.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace foretrace;
using namespace foretrace::megatron;

static bool hasDurations(const Options &O) {
  return O.Durations == Durations::Estimated;
}

ir::FactSet foretrace::megatron::needs(const Options &O) {
  ir::FactSet Needs = {ir::Fact::Recompute, ir::Fact::Scheduled,
                       ir::Fact::Sync};
  if (hasDurations(O))
    Needs.insert(ir::Fact::Costs);
  return Needs;
}

/// Whether there is a time for every row, and not too many rows to replay.
static bool checkTimes(const EmitRequest &Request, const Options &O,
                       DiagnosticEngine &Diags) {
  const ir::Program &P = Request.Program;
  const SourceRange Range = Request.Emit.Options.find("durations")->Value.Range;
  if (*P.Spec.Cost.Kind == ir::CostKind::Uncosted) {
    Diags.report(Range, diag::MegatronNoTimes);
    return false;
  }
  // A step is a forward and a backward row, and up to four messages.
  const Elements Rows = Elements(P.Schedule.steps()) * 6 * P.Schedule.Stages;
  if (Rows.isOverflow() || Rows.value() > IterationReplay::MaxRows) {
    Diags.report(Range, diag::MegatronTooLong,
                 Rows.isOverflow() ? INT64_MAX : Rows.value(),
                 IterationReplay::MaxRows);
    return false;
  }
  return checkDurations(P, Skeleton(P, O.How), Range, Diags);
}

bool foretrace::megatron::check(const EmitRequest &Request, const Options &O,
                                DiagnosticEngine &Diags) {
  const int64_t World = *Request.Program.Spec.Parallel.World;
  if (!checkModes(Request.Program, Diags))
    return false;
  bool IsGood = checkCalls(Request.Program, O.How, Diags);
  IsGood &= !hasDurations(O) || checkTimes(Request, O, Diags);
  IsGood &= checkRanks(O.Ranks, World, Diags);
  // A micro-batch has a row forward and one backward.
  constexpr double BytesOfRow = 128;
  const double Rows =
      2 * countRanks(allIfEmpty(O.Ranks, World)) *
      static_cast<double>(Request.Program.Schedule.MicroBatches);
  return IsGood && Request.hasRoom(Rows * BytesOfRow, Diags);
}

llvm::Error foretrace::megatron::emit(const EmitRequest &Request,
                                      const Options &O, OutputSet &Out) {
  const ir::Program &P = Request.Program;
  const ir::RankMap Map(P.Mesh, *P.Spec.Parallel.RankOrder);
  const Skeleton Trace(P, O.How);
  std::optional<IterationReplay> Times;
  if (hasDurations(O)) {
    Times.emplace(P, Trace);
    if (Times->isStuck())
      return llvm::createStringError("the stages wait for each other for ever");
  }
  RankTexts Texts(Trace, Times ? &*Times : nullptr, P.Schedule.Stages);
  auto Path = [&](int64_t Rank) {
    llvm::SmallString<64> Path(O.Dir);
    llvm::sys::path::append(Path, "rank" + llvm::Twine(Rank) + ".txt");
    return Path.str().str();
  };
  return addRankFiles(Out, allIfEmpty(O.Ranks, *P.Spec.Parallel.World), Path,
                      [&](int64_t Rank, OutputStream &OS) {
                        const int64_t Stage =
                            Map.coordinate(Rank, ir::Axis::Pp);
                        Texts.write(Rank, Stage, OS);
                      });
}
