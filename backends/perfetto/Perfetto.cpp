// SPDX-License-Identifier: Apache-2.0
//
// The `perfetto` backend: what ranks do in an iteration as trace events, the
// JSON that Perfetto and chrome://tracing open. It shows the timeline of
// backends/ranks/StepRun.h.
#include "analysis/LayerCounts.h"
#include "backends/EmissionOf.h"
#include "backends/ranks/RankFiles.h"
#include "backends/ranks/StepRun.h"
#include "backends/ranks/TaskLimits.h"
#include "ir/model/Ranks.h"
#include "ir/ranks/StepOps.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <map>

using llvm::formatv;
using llvm::raw_ostream;
using llvm::StringRef;
using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;
using namespace foretrace::perfetto;

namespace {

/// Writes the track of one rank, its slices one after the other and what is in
/// them, as trace events (Trace Event Format: `M` names, `X` slices whose times
/// are microseconds).
class TrackWriter {
public:
  /// \p Request is checked, and stays.
  TrackWriter(const EmitRequest &Request, StepTime Time, bool HasLayers);

  /// The events of a rank of stage \p Stage, without a comma at the end.
  void write(int64_t Rank, int64_t Stage, llvm::raw_ostream &OS);

private:
  /// Time of a layer in a step; recomputation comes first.
  struct LayerTime {
    int64_t Recomputed = 0, Rest = 0;
  };
  using Actions = llvm::ArrayRef<ir::Action>;

  void name(llvm::StringRef What, llvm::StringRef Name, llvm::raw_ostream &OS);
  void span(const ir::Timeline::Span &Of, llvm::raw_ostream &OS);
  void slice(llvm::StringRef Name, llvm::StringRef Category, int64_t Start,
             int64_t End, llvm::StringRef Args, llvm::raw_ostream &OS);
  std::string argsOf(Actions Of) const;
  void layers(const ir::Action &Of, int64_t Start, llvm::raw_ostream &OS);
  void step(int64_t Start, llvm::raw_ostream &OS);
  LayerTime timeOf(ir::BlockId Block, ir::ActionKind Step);

  const EmitRequest &Request;
  const ir::Program &P;
  const StepTime Time;
  const bool HasLayers;
  const ir::Timeline Run;
  std::map<std::pair<unsigned, ir::ActionKind>, LayerTime> Known;
  int64_t Rank = 0, Stage = 0; ///< of the track that is written
};

} // namespace

TrackWriter::TrackWriter(const EmitRequest &Request, StepTime Time,
                         bool HasLayers)
    : Request(Request), P(Request.Program), Time(Time), HasLayers(HasLayers),
      Run(runSteps(P, P.Schedule, Time)) {}

static std::string quote(StringRef Text) {
  std::string Out;
  llvm::raw_string_ostream(Out) << llvm::json::Value(Text);
  return Out;
}

/// Returns a time in microseconds, to the nanosecond; a unit is one of them.
static std::string microseconds(int64_t Of, StepTime Time) {
  if (Time == StepTime::Unit)
    return std::to_string(Of);
  const std::string Digits = std::to_string(Of % 1000);
  return std::to_string(Of / 1000) + "." + std::string(3 - Digits.size(), '0') +
         Digits;
}

void TrackWriter::name(StringRef What, StringRef Name, raw_ostream &OS) {
  OS << formatv("{{\"ph\":\"M\",\"pid\":{0},\"tid\":0,\"name\":\"{1}\","
                "\"args\":{{\"name\":{2}}}",
                Rank, What, quote(Name));
}

void TrackWriter::slice(StringRef Name, StringRef Category, int64_t Start,
                        int64_t End, StringRef Args, raw_ostream &OS) {
  OS << ",\n{\"ph\":\"X\",\"pid\":" << Rank
     << ",\"tid\":0,\"name\":" << quote(Name) << ",\"cat\":\"" << Category
     << "\",\"ts\":" << microseconds(Start, Time)
     << ",\"dur\":" << microseconds(End - Start, Time) << ",\"args\":{" << Args
     << "}}";
}

/// Returns the arguments of actions that begin together.
std::string TrackWriter::argsOf(Actions Of) const {
  std::string Args;
  llvm::raw_string_ostream OS(Args);
  const Action &A = Of.front();
  OS << "\"micro_batch\":" << A.MicroBatch << ",\"chunk\":" << A.Chunk
     << ",\"part\":" << P.Schedule.partOf(Stage, A.Chunk) << ",\"phase\":\""
     << getName(A.Phase) << '"';
  if (isMessage(A.Kind))
    OS << ",\"bytes\":" << bytesOf(P, Stage, A) << ",\"peer_stage\":" << A.Peer;
  else
    OS << ",\"layers\":"
       << quote(describe(stageAt(P.Stages, Stage).layersOf(A.Chunk), P));
  const std::string Where =
      Request.Where ? Request.Where(placeOf(P.Spec, A)) : "";
  if (!Where.empty())
    OS << ",\"where\":" << quote(Where);
  if (Of.size() > 1)
    OS << ",\"with\":{\"action\":\"" << getName(Of[1].Kind) << "\","
       << argsOf(Of.drop_front()) << '}';
  return Args;
}

static StringRef categoryOf(ActionKind K) {
  if (isSend(K))
    return "send";
  if (isReceive(K))
    return "recv";
  return K == ActionKind::Forward ? "forward" : "backward";
}

TrackWriter::LayerTime TrackWriter::timeOf(BlockId Block, ActionKind Step) {
  auto [It, IsNew] = Known.try_emplace({Block.Index, Step});
  if (!IsNew)
    return It->second;
  const ir::Block &B = P.Blocks[Block];
  for (const auto &[O, Action] : llvm::zip_equal(B.Ops, actionsOf(B)))
    if (runs(Step, Action))
      (O.Phase == Phase::Recompute ? It->second.Recomputed : It->second.Rest) +=
          O.exposed().value();
  return It->second;
}

/// The layers of a chunk one after the other; backward the last one is first.
void TrackWriter::layers(const Action &Of, int64_t Start, raw_ostream &OS) {
  llvm::SmallVector<BlockId, 0> Layers;
  for (const LayerGroup &G : stageAt(P.Stages, Stage).layersOf(Of.Chunk))
    for (int64_t Period = 0; Period < G.Periods; ++Period)
      for (const BlockRun &R : G.Runs)
        Layers.append(static_cast<size_t>(R.Count), R.Block);
  const bool IsForward = Of.Kind == ActionKind::Forward;
  for (size_t I = 0; I < Layers.size(); ++I) {
    const size_t Layer = IsForward ? I : Layers.size() - 1 - I;
    const LayerTime Takes = timeOf(Layers[Layer], Of.Kind);
    const std::string Args = formatv("\"layer_of_chunk\":{0}", Layer);
    const std::string &Name = P.Blocks[Layers[Layer]].Name;
    if (Takes.Recomputed != 0)
      slice("recompute " + Name, "recompute", Start, Start + Takes.Recomputed,
            Args, OS);
    Start += Takes.Recomputed;
    slice(Name, categoryOf(Of.Kind), Start, Start + Takes.Rest, Args, OS);
    Start += Takes.Rest;
  }
}

void TrackWriter::span(const Timeline::Span &Of, raw_ostream &OS) {
  const Action &First = Of.Actions.front();
  std::string Name;
  for (const Action &A : Of.Actions)
    Name += (Name.empty() ? "" : " + ") + getName(A.Kind).str() + " " +
            std::to_string(A.MicroBatch);
  slice(Name, categoryOf(First.Kind), Of.Start, Of.End, argsOf(Of.Actions), OS);
  // Layers of steps that overlap do, too: nothing says when.
  if (HasLayers && Time == StepTime::Cost && isCompute(First.Kind) &&
      Of.Actions.size() == 1)
    layers(First, Of.Start, OS);
}

/// Writes the ops of a stage's end of an iteration as one slice.
void TrackWriter::step(int64_t Start, raw_ostream &OS) {
  const Block &B = P.Blocks[stageAt(P.Stages, Stage).Step];
  auto TimeOf = [&](const Op &O) {
    return Time == StepTime::Cost ? O.exposed().value() : 0;
  };
  int64_t End = Start;
  for (const Op &O : B.Ops)
    End += TimeOf(O);
  slice("step", "step", Start, End, "", OS);
  for (const Op &O : B.Ops) {
    const StringRef Name =
        O.Name.empty() ? getMnemonic(O.Kind) : StringRef(O.Name);
    if (!isCollective(O.Kind)) {
      slice(Name, "step", Start, Start + TimeOf(O), "", OS);
      Start += TimeOf(O);
      continue;
    }
    // Each bucket has its share of the time.
    const auto All = std::max<int64_t>(messageBytes(P, O).value(), 1);
    const int64_t First = Start;
    __int128 Sent = 0;
    for (const Bytes Size : messagesOf(P, O)) {
      Sent += Size.value();
      const int64_t Until =
          First + static_cast<int64_t>(TimeOf(O) * Sent / All);
      slice(Name, "step", Start, Until,
            formatv("\"group\":\"{0}\",\"bytes\":{1}",
                    textOf(O.Group, P.Spec, P.Mesh), Size.value())
                .str(),
            OS);
      Start = Until;
    }
    Start = First + TimeOf(O);
  }
}

void TrackWriter::write(int64_t OfRank, int64_t OfStage, raw_ostream &OS) {
  Rank = OfRank;
  Stage = OfStage;
  name("process_name", formatv("rank {0}, stage {1}", Rank, Stage).str(), OS);
  OS << ",\n";
  name("thread_name", "schedule", OS);
  OS << formatv(",\n{{\"ph\":\"M\",\"pid\":{0},\"name\":\"process_sort_index\","
                "\"args\":{{\"sort_index\":{0}}}",
                Rank);
  for (const Timeline::Span &Of : Run.spans(Stage))
    span(Of, OS);
  step(Run.spans(Stage).empty() ? 0 : Run.spans(Stage).back().End, OS);
}

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

/// Returns whether no stage has an iteration that overflows, its end included.
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
