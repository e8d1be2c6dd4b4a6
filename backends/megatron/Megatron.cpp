// SPDX-License-Identifier: Apache-2.0
//
// The `megatron` backend: the trace that every rank of the job should leave.
#include "backends/EmissionOf.h"
#include "backends/megatron/Modes.h"
#include "backends/megatron/Options.h"
#include "backends/megatron/Replay.h"
#include "backends/megatron/Skeleton.h"
#include "backends/megatron/Unlogged.h"
#include "ir/model/Ranks.h"
#include "lang/diagnostics/Backends.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include <mutex>

using namespace foretrace;
using namespace foretrace::megatron;
using namespace foretrace::option;

namespace {

/// Writes one iteration of any rank. Ranks of one stage log the same rows but
/// for their number, so rows are made into text once a stage. Several threads
/// may write at once.
class RankTexts {
public:
  /// \p Times may be null. A stage is made into text when its first rank is
  /// written.
  RankTexts(const Skeleton &Trace, const IterationReplay *Times,
            int64_t Stages);

  /// The trace of \p Rank, which is of \p Stage.
  void write(int64_t Rank, int64_t Stage, OutputStream &OS);

  /// Bytes of text that are kept for all stages. If a stage has more than its
  /// share of them, its rows are formatted for each of its ranks.
  static constexpr size_t MaxKept = size_t(256) << 20;

private:
  /// The rows of a stage, each but for its `rank:N`.
  struct Shared {
    std::once_flag IsMade;
    std::string Text;
    std::vector<size_t> Ends; ///< of rows in Text; none if Text is not kept
  };

  using Visitor = llvm::function_ref<bool(const TraceRow &, const RowTimes *)>;
  void forEachRow(int64_t Stage, Visitor Visit) const;
  void make(int64_t Stage, Shared &To) const;

  const Skeleton &Trace;
  const IterationReplay *const Times;
  std::vector<Shared> Stages;
};

} // namespace

RankTexts::RankTexts(const Skeleton &Trace, const IterationReplay *Times,
                     int64_t Stages)
    : Trace(Trace), Times(Times), Stages(static_cast<size_t>(Stages)) {}

void RankTexts::forEachRow(int64_t Stage, Visitor Visit) const {
  size_t Index = 0;
  Trace.forEachRow(Stage, [&](const TraceRow &R) {
    if (!Times)
      return Visit(R, nullptr);
    const RowTimes Of = Times->times(R, Index++);
    return Visit(R, &Of);
  });
}

void RankTexts::make(int64_t Stage, Shared &To) const {
  const size_t Share = MaxKept / Stages.size();
  llvm::raw_string_ostream OS(To.Text);
  forEachRow(Stage, [&](const TraceRow &R, const RowTimes *At) {
    writeRow(R, At, OS);
    To.Ends.push_back(To.Text.size());
    return To.Text.size() <= Share;
  });
  if (To.Text.size() > Share)
    To.Text = {}, To.Ends = {};
}

void RankTexts::write(int64_t Rank, int64_t Stage, OutputStream &OS) {
  const std::string Begin = "rank:" + std::to_string(Rank);
  Shared &Of = Stages[static_cast<size_t>(Stage)];
  std::call_once(Of.IsMade, [&] { make(Stage, Of); });
  if (Of.Ends.empty())
    return forEachRow(Stage, [&](const TraceRow &R, const RowTimes *At) {
      OS << Begin;
      writeRow(R, At, OS);
      return !OS.isFull();
    });
  size_t At = 0;
  for (size_t End : Of.Ends) {
    OS << Begin;
    OS.write(Of.Text.data() + At, End - At);
    At = End;
  }
}

static constexpr llvm::StringRef Dialects[] = {
#define DIALECT(ENUMERATOR, SPELLING, DOC) SPELLING,
#include "backends/megatron/Dialects.def"
};
static constexpr llvm::StringRef DurationWords[] = {"blank", "estimated"};

constexpr EmitOption megatron::OptionRows[] = {
#include "backends/megatron/Options.def"
};
constexpr EmitReader megatron::Reader = readerOf<Options>(OptionRows);

/// Returns an upper bound of the rows of all stages.
static int64_t rowsOf(const ir::Program &P) {
  // A step is a forward and a backward row, and up to four messages.
  const Elements Rows = Elements(P.Schedule.steps()) * 6 * P.Schedule.Stages;
  return Rows.isOverflow() ? INT64_MAX : Rows.value();
}

static bool isEstimated(const ir::Program &P) {
  return *P.Spec.Cost.Kind == ir::CostKind::Estimate;
}

bool foretrace::megatron::hasDurations(const Options &O, const ir::Program &P) {
  return O.Durations ? *O.Durations == Durations::Estimated
                     : isEstimated(P) && rowsOf(P) <= IterationReplay::MaxRows;
}

ir::FactSet foretrace::megatron::needs(const Options &O) {
  ir::FactSet Needs = {ir::Fact::Recompute, ir::Fact::Scheduled,
                       ir::Fact::Sync};
  if (O.Durations != Durations::Blank)
    Needs.insert(ir::Fact::Costs);
  return Needs;
}

/// Returns whether all rows have times and are few enough to replay.
static bool checkTimes(const EmitRequest &Request, const Options &O,
                       DiagnosticEngine &Diags) {
  const ir::Program &P = Request.Program;
  const ir::NamedAttribute *Asked = Request.Emit.Options.find("durations");
  const SourceRange Range = Asked ? Asked->Value.Range : Request.Emit.Range;
  if (*P.Spec.Cost.Kind == ir::CostKind::Uncosted) {
    Diags.report(Range, diag::MegatronNoTimes);
    return false;
  }
  if (rowsOf(P) > IterationReplay::MaxRows) {
    Diags.report(Range, diag::MegatronTooLong, rowsOf(P),
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
  IsGood &= !hasDurations(O, Request.Program) || checkTimes(Request, O, Diags);
  if (!O.Durations && isEstimated(Request.Program) &&
      !hasDurations(O, Request.Program))
    Diags.report(Request.Emit.Range, diag::MegatronBlank,
                 rowsOf(Request.Program), IterationReplay::MaxRows);
  IsGood &= checkRanks(O.Ranks, World, Diags);
  // A micro-batch has a row forward and one backward.
  constexpr double BytesOfRow = 128;
  const double Rows =
      2 * countRanks(allIfEmpty(O.Ranks, World)) *
      static_cast<double>(Request.Program.Schedule.MicroBatches);
  return IsGood && Request.hasRoom(Rows * BytesOfRow, Diags);
}

/// Writes `DIR/rankN.txt` for every rank asked for.
llvm::Error foretrace::megatron::emit(const EmitRequest &Request,
                                      const Options &O, OutputSet &Out) {
  const ir::Program &P = Request.Program;
  const ir::RankMap Map(P.Mesh, *P.Spec.Parallel.RankOrder);
  const Skeleton Trace(P, O.How);
  std::optional<IterationReplay> Times;
  if (hasDurations(O, P)) {
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
