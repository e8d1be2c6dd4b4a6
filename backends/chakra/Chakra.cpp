// SPDX-License-Identifier: Apache-2.0
//
// The `chakra` backend: an execution trace of Chakra's schema 1.0.0 for every
// rank, and the file of its communicator groups, for ASTRA-sim.
#include "analysis/LayerCounts.h"
#include "backends/EmissionOf.h"
#include "backends/ExpertExchanges.h"
#include "backends/chakra/NodeWriter.h"
#include "backends/ranks/RankFiles.h"
#include "backends/ranks/TaskLimits.h"
#include "ir/model/Shares.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/Support/JSON.h"
#include <atomic>
#include <mutex>

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::chakra;
using namespace foretrace::option;

namespace foretrace::chakra {

/// Ranks whose traces are written.
struct TracedRanks {
  RankList Ranks;
  bool IsByClass = false; ///< one trace for all ranks of a stage
};

struct Options {
  FileNames Files;
  TracedRanks Whose;
  /// Computations without communication between them are one node.
  bool IsFused = false;
  bool HasProvenance = false; ///< nodes name their lines
};

} // namespace foretrace::chakra

namespace {

struct RanksOrClasses : option::Ranks {
  static std::string expected() {
    return "`all`, `classes`, a rank, or ranks in quotes, \"0,4,8-11\"";
  }
  static llvm::ArrayRef<llvm::StringRef> words() { return Words; }
  static bool read(const Attribute &A, TracedRanks &Into,
                   DiagnosticEngine &Diags) {
    Into.IsByClass = A.K == Attribute::Kind::Name && A.Text == "classes";
    return Into.IsByClass || option::Ranks::read(A, Into.Ranks, Diags);
  }
  static constexpr llvm::StringRef Words[] = {"all", "classes"};
};

} // namespace

constexpr EmitOption chakra::OptionRows[] = {
#include "backends/chakra/Options.def"
};
constexpr EmitReader chakra::Reader = readerOf<Options>(OptionRows);

FactSet chakra::needs(const Options &) {
  return {Fact::Scheduled, Fact::Sync, Fact::Costs, Fact::Traffic};
}

/// Returns whether ASTRA-sim can count ranks and tags.
static bool checkCounts(const Program &P, SourceRange Range,
                        DiagnosticEngine &Diags) {
  constexpr int64_t MaxRanks = INT32_MAX;
  constexpr int64_t MaxTag = 500'000'000; // ASTRA-sim takes tags modulo this
  const Schedule &S = P.Schedule;
  const Located<Int> &World = P.Spec.Parallel.World;
  bool IsGood = true;
  if (*World == 1 || *World > MaxRanks) {
    Diags.report(World.Range, diag::ChakraWorld, MaxRanks, *World);
    IsGood = false;
  }
  // Tags of stages; those of rings are above, and wrap around only after as
  // many messages.
  const Elements Tags = Elements(S.parts()) * 2 * S.MicroBatches;
  if (Tags.isOverflow() || Tags.value() >= MaxTag) {
    Diags.report(Range, diag::ChakraTags, S.parts(), S.MicroBatches, MaxTag);
    IsGood = false;
  }
  return IsGood;
}

/// Returns whether each op reads and writes less than 2^63 bytes.
static bool checkSizes(const Program &P, DiagnosticEngine &Diags) {
  for (const Block &B : P.Blocks)
    for (const Op &O : B.Ops)
      if (P.Sizes.value(O.Touched).isOverflow()) {
        Diags.report(O.Origin.Range, diag::SizeOverflow,
                     "what `" + O.Name + "` reads and writes");
        return false;
      }
  return true;
}

/// Reports \p What if the sum over all computations of a rank may be 2^63 or
/// more.
static void checkSum(const Program &P, SourceRange Range, llvm::StringRef What,
                     llvm::function_ref<int64_t(const Op &)> Of,
                     DiagnosticEngine &Diags) {
  for (const Stage &S : P.Stages) {
    Elements Sum;
    auto Add = [&](BlockId Block, int64_t Times) {
      for (const Op &O : P.Blocks[Block].Ops)
        Sum += Elements(Of(O)) * Times;
    };
    for (const auto &[Block, Layers] : layersByBlock(S))
      Add(BlockId(Block),
          Layers * P.Schedule.MicroBatches); // checkSteps: small
    Add(S.Step, 1);
    if (Sum.isOverflow()) {
      Diags.report(Range, diag::SizeOverflow, What);
      return;
    }
  }
}

/// Reports why computations can't be merged: nodes have the sums of durations,
/// FLOPs and bytes.
static void checkFused(const EmitRequest &Request, const Options &O,
                       DiagnosticEngine &Diags) {
  const Program &P = Request.Program;
  const SourceRange Range = Request.Emit.Options.find("fuse")->Value.Range;
  if (O.HasProvenance)
    Diags.report(Range, diag::ChakraFuseProvenance);
  if (*P.Spec.Cost.Kind == CostKind::Uncosted)
    Diags.report(Range, diag::ChakraFuseTimes);
  checkSum(
      P, Range, "the FLOP count of a rank",
      [&](const Op &Of) { return workOf(P, Of).value(); }, Diags);
  checkSum(
      P, Range, "what a rank reads and writes",
      [&](const Op &Of) { return P.Sizes.value(Of.Touched).value(); }, Diags);
}

bool chakra::check(const EmitRequest &Request, const Options &O,
                   DiagnosticEngine &Diags) {
  const Program &P = Request.Program;
  const SourceRange Range = Request.Emit.Range;
  bool IsGood = checkRanks(O.Whose.Ranks, *P.Spec.Parallel.World, Diags);
  IsGood &= checkCounts(P, Range, Diags) && checkSteps(Request, Diags);
  IsGood &= checkSizes(P, Diags);
  reportExpertExchanges(Request, "`emit chakra`", Diags);
  if (const ParallelSpec &Par = P.Spec.Parallel;
      isOfTorch(Par) && *Par.Zero >= 2 && *Par.Pp > 1)
    Diags.report(Par.DpFramework.Range, diag::ChakraUnits, *Par.Pp);
  if (O.IsFused && IsGood) { // the sums have values
    const unsigned Before = Diags.errorCount();
    checkFused(Request, O, Diags);
    return Diags.errorCount() == Before;
  }
  if (*P.Spec.Cost.Kind == CostKind::Uncosted)
    Diags.report(Range, diag::ChakraNoTimes);
  constexpr double BytesOfNode = 48;
  const RankList Ranks = O.Whose.IsByClass
                             ? RankList{{0, P.Schedule.Stages - 1, {}}}
                             : O.Whose.Ranks;
  return IsGood && Request.hasRoom(leastTasks(P, Ranks) * BytesOfNode, Diags);
}

namespace {

/// The traces of all ranks. What the ranks of a stage share is made when the
/// first of them is written, and freed with the last one.
class RankTraces {
public:
  RankTraces(const EmitRequest &Request, const Options &O)
      : P(Request.Program), IsFused(O.IsFused),
        Map(P.Mesh, *P.Spec.Parallel.RankOrder), Names(P),
        Stages(static_cast<size_t>(P.Schedule.Stages)) {
    if (O.HasProvenance)
      findLines(Request);
  }

  /// To be called for every rank that is going to be written.
  void expect(int64_t Rank) { ++stageOf(Rank).Left; }
  void write(int64_t Rank, llvm::raw_ostream &OS);
  const GroupNames &names() const { return Names; }
  const RankMap &map() const { return Map; }

private:
  struct Shared {
    std::once_flag IsMade;
    std::atomic<int64_t> Left = 0;
    StageTrace Trace;
  };
  Shared &stageOf(int64_t Rank) {
    return Stages[static_cast<size_t>(Map.coordinate(Rank, Axis::Pp))];
  }
  void findLines(const EmitRequest &Request);
  void make(int64_t Stage, Shared &To) const;

  const Program &P;
  const bool IsFused;
  const RankMap Map;
  const GroupNames Names;
  std::optional<Provenance> Lines;
  std::vector<Shared> Stages;
};

} // namespace

void RankTraces::findLines(const EmitRequest &Request) {
  Lines.emplace();
  for (const Block &B : P.Blocks)
    for (const Op &O : B.Ops)
      Lines->try_emplace(&O, Request.Where(O.Origin.Range));
}

void RankTraces::make(int64_t Stage, Shared &To) const {
  NodeWriter Nodes(P, Names, Lines ? &*Lines : nullptr);
  StageTasks Tasks(P, Stage);
  if (IsFused) {
    ComputeRuns Runs(P, Stage);
    Tasks.forEach([&](int64_t Id, const Task &T) {
      if (T.Kind != TaskKind::Compute)
        Nodes.add(Id, Runs.renamed(T));
      else if (const auto Run = Runs.add(Id, T))
        Nodes.add(*Run);
      return true;
    });
  } else {
    Tasks.forEach([&](int64_t Id, const Task &T) {
      Nodes.add(Id, T);
      return true;
    });
  }
  To.Trace = Nodes.take();
}

void RankTraces::write(int64_t Rank, llvm::raw_ostream &OS) {
  Shared &Of = stageOf(Rank);
  std::call_once(Of.IsMade, [&] { make(Map.coordinate(Rank, Axis::Pp), Of); });
  Of.Trace.write(Rank, Map, Names, OS);
  if (--Of.Left == 0)
    Of.Trace = {};
}

/// The first rank of each stage.
static RankList classRanks(const Program &P, const RankMap &Map) {
  RankList Ranks;
  for (int64_t Stage = 0; Stage < P.Schedule.Stages; ++Stage) {
    const int64_t First = Map.at(0, {Axis::Pp}, Stage);
    Ranks.push_back({First, First, {}});
  }
  return Ranks;
}

/// Writes which ranks each trace represents.
static void writeClasses(const Program &P, const RankMap &Map,
                         llvm::raw_ostream &OS) {
  llvm::json::OStream J(OS, 2);
  J.array([&] {
    for (const RankRange &Class : classRanks(P, Map))
      J.object([&] {
        J.attribute("trace", Class.First);
        J.attributeArray("ranks", [&] {
          for (int64_t Rank = 0; Rank < *P.Spec.Parallel.World; ++Rank)
            if (Map.coordinate(Rank, Axis::Pp) ==
                Map.coordinate(Class.First, Axis::Pp))
              J.value(Rank);
        });
      });
  });
  J.flush();
  OS << '\n';
}

llvm::Error chakra::emit(const EmitRequest &Request, const Options &O,
                         OutputSet &Out) {
  const Program &P = Request.Program;
  RankTraces Traces(Request, O);
  const auto &[Given, IsByClass] = O.Whose;
  const RankList Ranks = IsByClass ? classRanks(P, Traces.map())
                                   : allIfEmpty(Given, *P.Spec.Parallel.World);
  for (const RankRange &R : Ranks)
    for (int64_t Rank = R.First; Rank <= R.Last; ++Rank)
      Traces.expect(Rank);
  if (llvm::Error E = addRankFiles(
          Out, Ranks,
          [&](int64_t Rank) {
            return O.Files.path(Request, llvm::Twine(Rank) + ".et");
          },
          [&](int64_t Rank, llvm::raw_ostream &OS) { Traces.write(Rank, OS); }))
    return E;
  if (IsByClass)
    if (llvm::Error E = Out.add(
            O.Files.path(Request, "classes.json"),
            [&](llvm::raw_ostream &OS) { writeClasses(P, Traces.map(), OS); }))
      return E;
  return Out.add(
      O.Files.path(Request, "groups.json"),
      [&](llvm::raw_ostream &OS) { Traces.names().write(O.Whose.Ranks, OS); });
}
