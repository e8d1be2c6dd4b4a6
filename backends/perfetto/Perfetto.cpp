// SPDX-License-Identifier: Apache-2.0
//
// The `perfetto` backend: what ranks do in an iteration as trace events, the
// JSON that Perfetto and chrome://tracing open. It shows the timeline of
// backends/ranks/StepRun.h.
#include "backends/EmissionOf.h"
#include "backends/perfetto/TrackWriter.h"
#include "backends/ranks/RankFiles.h"
#include "backends/ranks/StepRun.h"
#include "backends/ranks/TaskLimits.h"
#include "lang/diagnostics/Lang.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;
using namespace foretrace::perfetto;

namespace foretrace::perfetto {

/// Ranks whose tracks are written.
struct DrawnRanks {
  RankList Ranks;        ///< empty: all
  bool IsByStage = true; ///< the first rank of each stage
};

struct Options {
  std::string File; ///< empty: from the job's name
  DrawnRanks Whose;
  std::optional<StepTime> Time; ///< none: that of `bestTimeOf`
  bool HasLayers = false;
};

} // namespace foretrace::perfetto

namespace {

constexpr llvm::StringRef TimeWords[] = {"unit", "cost"};

struct RanksOrStages : option::Ranks {
  static std::string expected() {
    return "`stages`, `all`, a rank, or ranks in quotes, \"0,4,8-11\"";
  }
  static llvm::ArrayRef<llvm::StringRef> words() { return Words; }
  static bool read(const Attribute &A, DrawnRanks &Into,
                   DiagnosticEngine &Diags) {
    Into.IsByStage = A.K == Attribute::Kind::Name && A.Text == "stages";
    return Into.IsByStage || option::Ranks::read(A, Into.Ranks, Diags);
  }
  static constexpr llvm::StringRef Words[] = {"stages", "all"};
};

} // namespace

constexpr EmitOption perfetto::OptionRows[] = {
#include "backends/perfetto/Options.def"
};
constexpr EmitReader perfetto::Reader = readerOf<Options>(OptionRows);

FactSet perfetto::needs(const Options &O) {
  if (O.Time == StepTime::Unit)
    return {Fact::Scheduled, Fact::Sync};
  return {Fact::Scheduled, Fact::Sync, Fact::Costs};
}

static StepTime timeOf(const Program &P, const Options &O) {
  return O.Time.value_or(bestTimeOf(P));
}

/// Whether what stages do once an iteration can be added to their steps.
static bool checkEnd(const EmitRequest &Request, DiagnosticEngine &Diags) {
  const Program &P = Request.Program;
  for (const Stage &S : P.Stages) {
    Nanoseconds Sum = timeOfSteps(P);
    for (const Op &O : P.Blocks[S.Step].Ops)
      Sum += O.Time;
    if (Sum.isOverflow()) {
      Diags.report(Request.Emit.Range, diag::SizeOverflow,
                   "the time of an iteration");
      return false;
    }
  }
  return true;
}

bool perfetto::check(const EmitRequest &Request, const Options &O,
                     DiagnosticEngine &Diags) {
  const Program &P = Request.Program;
  const NamedAttribute *Time = Request.Emit.Options.find("time");
  const bool HasRanks =
      checkRanks(O.Whose.Ranks, *P.Spec.Parallel.World, Diags);
  return checkStepRun(Request, timeOf(P, O),
                      Time ? Time->Value.Range : Request.Emit.Range, Diags) &&
         checkEnd(Request, Diags) && (!O.HasLayers || checkLayers(P, Diags)) &&
         HasRanks;
}

/// The ranks that have tracks, in order.
static std::vector<int64_t> ranksOf(const Program &P, const RankMap &Map,
                                    const DrawnRanks &Whose) {
  std::vector<int64_t> Ranks;
  if (Whose.IsByStage) {
    for (int64_t Stage = 0; Stage < P.Schedule.Stages; ++Stage)
      Ranks.push_back(Map.at(0, {Axis::Pp}, Stage));
    return Ranks;
  }
  for (const RankRange &R : allIfEmpty(Whose.Ranks, *P.Spec.Parallel.World))
    for (int64_t Rank = R.First; Rank <= R.Last; ++Rank)
      Ranks.push_back(Rank);
  return Ranks;
}

llvm::Error perfetto::emit(const EmitRequest &Request, const Options &O,
                           OutputSet &Out) {
  const Program &P = Request.Program;
  const RankMap Map(P.Mesh, *P.Spec.Parallel.RankOrder);
  const std::vector<int64_t> Ranks = ranksOf(P, Map, O.Whose);
  TrackWriter Writer(Request, timeOf(P, O), O.HasLayers);
  return Out.addParts(Request.file(O.File, ".perfetto.json"), Ranks.size(),
                      [&](uint64_t Part, llvm::raw_ostream &OS) {
                        OS << (Part == 0 ? "{\"displayTimeUnit\":\"ns\","
                                           "\"traceEvents\":[\n"
                                         : ",\n");
                        const int64_t Rank = Ranks[Part];
                        Writer.write(Rank, Map.coordinate(Rank, Axis::Pp), OS);
                        OS << (Part + 1 == Ranks.size() ? "\n]}\n" : "");
                      });
}
