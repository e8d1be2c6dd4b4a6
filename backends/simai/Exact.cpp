// SPDX-License-Identifier: Apache-2.0
#include "backends/simai/Exact.h"
#include "backends/simai/ExactRows.h"
#include "backends/simai/Words.h"
#include "ir/model/Boundary.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Backends.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <utility>

using namespace foretrace;
using namespace foretrace::simai;
using ir::BlockId;

/// Returns what all collectives of a cause share: " over tp x cp", or nothing
/// if it is their kind that has no word.
static std::string commonPart(const ir::Op &Collective) {
  std::string Text;
  if (!commOf(Collective.Kind))
    return Text;
  llvm::raw_string_ostream OS(Text);
  const llvm::StringRef Members = getSpelling(Collective.Group.Members);
  OS << " over ";
  if (!Members.empty())
    OS << "the " << Members << " of ";
  llvm::interleave(
      Collective.Group.Axes, OS, [&](ir::Axis A) { OS << getName(A); }, " x ");
  return Text;
}

void LeftOut::add(llvm::StringRef File, const ir::Op &Collective, Bytes Total) {
  Cause &C = Causes[commonPart(Collective)];
  C.Kinds.insert(Collective.Kind);
  C.Files.insert(File.str());
  C.Total += Total;
}

void LeftOut::report(SourceRange Range, DiagnosticEngine &Diags) const {
  for (const auto &[CommonPart, C] : Causes) {
    const std::string Kinds =
        llvm::join(llvm::map_range(C.Kinds, ir::getMnemonic), ", ");
    const size_t Count = C.Files.size();
    Diags.report(Range, diag::SimaiInexpressible,
                 Count == 1 ? "`" + *C.Files.begin() + "` has"
                            : std::to_string(Count) + " tables have",
                 Kinds + CommonPart,
                 C.Total.isOverflow() ? "2^63 or more"
                                      : llvm::itostr(C.Total.value()),
                 Count == 1 ? " and rank" : ", summed over a rank of each");
  }
}

namespace {

/// Builds the table of one stage.
class StageTable {
public:
  StageTable(const ir::Program &P, const ir::Stage &S, llvm::StringRef File,
             LeftOut &Lost)
      : P(P), S(S), File(File), Lost(Lost), W(P) {}

  WorkloadTable build();

private:
  void header();
  void step();
  void chunks();
  void addPeriods(WorkloadPart &To, const ir::LayerGroup &G, int64_t Times);
  unsigned bodyOf(BlockId B);

  const ir::Program &P;
  const ir::Stage &S;
  llvm::StringRef File;
  LeftOut &Lost;
  const TableWords W;
  WorkloadTable T;
  llvm::DenseMap<unsigned, unsigned> Bodies;                ///< by block
  llvm::DenseMap<unsigned, std::vector<Unsayable>> Missing; ///< by block
  llvm::MapVector<unsigned, RowCount> Executions; ///< by block, per iteration
};

} // namespace

void StageTable::header() {
  const ir::ParallelSpec &Par = P.Spec.Parallel;
  T.Header.Tp = *Par.Tp;
  T.Header.Ep = expertRanks(P.Mesh);
  T.Header.Pp = *Par.Pp;
  T.Header.Vpp = *Par.Vpp;
  T.Header.Ga = *Par.Ga;
  T.Header.World = *Par.World;
  T.Header.PpComm = std::to_string(stageMessageBytes(P, S));
  T.LongestTime = ReaderLimit - 1;
}

int64_t foretrace::simai::stageMessageBytes(const ir::Program &P,
                                            const ir::Stage &S) {
  const int64_t Part = std::min(P.Schedule.partOf(S.First, 0),
                                std::max<int64_t>(P.Schedule.parts() - 2, 0));
  return boundaryBytes(P, boundaryAfter(P, Part, /*IsForward=*/true)).value();
}

/// The rows of a block, made once. The first row of the embedding has the name
/// by which the simulator knows it.
unsigned StageTable::bodyOf(BlockId B) {
  auto [It, Inserted] = Bodies.try_emplace(B.Index, 0);
  if (!Inserted)
    return It->second;
  BlockRows Made = rowsOf(P, P.Blocks[B], W);
  if (B == P.Layers.front().Runs.front().Block)
    Made.Rows.front().Name = "embedding_layer";
  if (B != P.Layers.front().Runs.front().Block &&
      B != P.Layers.back().Runs.back().Block)
    Made.Rows.back().EndsLayer = true;
  It->second = T.addBody(std::move(Made.Rows));
  Missing[B.Index] = std::move(Made.Missing);
  return It->second;
}

void StageTable::step() {
  BlockRows Made = stepRowsOf(P, P.Blocks[S.Step], W);
  for (const Unsayable &U : Made.Missing)
    Lost.add(File, *U.Collective, U.Message);
  T.addOnce(std::move(Made.Rows));
}

void StageTable::addPeriods(WorkloadPart &To, const ir::LayerGroup &G,
                            int64_t Times) {
  Period Layers;
  Layers.Repeat = G.Periods;
  for (const ir::BlockRun &R : G.Runs) {
    Executions[R.Block.Index] += RowCount(R.Count) * G.Periods * Times;
    Layers.Runs.push_back({bodyOf(R.Block), R.Count});
  }
  To.Periods.push_back(std::move(Layers));
}

template <typename Unit>
static Quantity<Unit> times(Quantity<Unit> Of, RowCount Count) {
  return Count.isOverflow() ? Of.overflow() : Of * Count.value();
}

/// Micro-batches that go through a chunk; with two copies of the model half of
/// them through each.
static int64_t microBatches(const ir::ParallelSpec &Par) {
  const bool HasTwoCopies =
      ir::getInfo(*Par.Schedule).Placement == ir::PlacementKind::Bidirectional;
  return *Par.Ga / (HasTwoCopies ? 2 : 1);
}

void StageTable::chunks() {
  WorkloadPart Each;
  Each.Repeat = microBatches(P.Spec.Parallel);
  Each.IsMicroBatch = true;
  for (const ir::ChunkRun &C : S.Chunks) {
    if (C.Layers.size() == 1) {
      ir::LayerGroup G = C.Layers[0];
      G.Periods *= C.Count;
      addPeriods(Each, G, Each.Repeat);
      continue;
    }
    for (int64_t I = 0; I < C.Count; ++I)
      for (const ir::LayerGroup &G : C.Layers)
        addPeriods(Each, G, Each.Repeat);
  }
  T.Parts.push_back(std::move(Each));
  for (auto [Block, Times] : Executions)
    for (const Unsayable &U : Missing[Block])
      Lost.add(File, *U.Collective, times(U.Message, Times));
}

WorkloadTable StageTable::build() {
  header();
  step();
  chunks();
  return std::move(T);
}

WorkloadTable foretrace::simai::exactTable(const ir::Program &P,
                                           const ir::Stage &S,
                                           llvm::StringRef File,
                                           LeftOut &Lost) {
  return StageTable(P, S, File, Lost).build();
}

/// Compute time of one iteration, then bytes, both over all rows.
static std::pair<int64_t, int64_t> weightOf(const WorkloadTable &T) {
  Nanoseconds Time;
  Bytes Size;
  forEachRun(T, [&](const Run &R, RowCount Times) {
    for (const WorkloadRow &Rw : T.Bodies[R.Body])
      for (const WorkloadCell *C : {&Rw.Forward, &Rw.Backward, &Rw.Update}) {
        Time += times(Nanoseconds(C->Time), Times);
        Size += times(Bytes(C->Size), Times);
      }
  });
  auto OrMost = [](auto Q) { return Q.isOverflow() ? INT64_MAX : Q.value(); };
  return {OrMost(Time), OrMost(Size)};
}

std::vector<const ir::Stage *>
foretrace::simai::chosenStages(const ir::Program &P, const StageChoice &Choice,
                               DiagnosticEngine &Diags) {
  std::vector<const ir::Stage *> Stages;
  switch (Choice.K) {
  case StageChoice::Kind::All:
    for (const ir::Stage &S : P.Stages)
      Stages.push_back(&S);
    return Stages;
  case StageChoice::Kind::Last:
    return {&P.Stages.back()};
  case StageChoice::Kind::Number:
    for (const ir::Stage &S : P.Stages)
      if (S.First <= Choice.Number && Choice.Number < S.First + S.Count)
        return {&S};
    Diags.report(Choice.Range, diag::SimaiStage, Choice.Number,
                 *P.Spec.Parallel.Pp);
    return {};
  case StageChoice::Kind::Worst:
    break;
  }
  LeftOut Ignored;
  auto Weight = [&](const ir::Stage &S) {
    return weightOf(exactTable(P, S, "", Ignored));
  };
  const ir::Stage *Worst = &P.Stages.front();
  std::pair<int64_t, int64_t> Most = Weight(*Worst);
  for (const ir::Stage &S : llvm::drop_begin(P.Stages))
    if (std::pair<int64_t, int64_t> W = Weight(S); W > Most) {
      Most = W;
      Worst = &S;
    }
  return {Worst};
}
