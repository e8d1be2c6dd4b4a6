// SPDX-License-Identifier: Apache-2.0
#include "ir/model/Ranks.h"
#include "ir/verify/VerifyParts.h"
#include "lang/diagnostics/IR.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// Walks a folded sequence, whole periods or runs at a time.
class Cursor {
public:
  explicit Cursor(const LayerSequence &S) : S(S) {}

  bool atEnd() const { return Group == S.size(); }
  BlockId block() const { return S[Group].Runs[Run].Block; }

  /// Walks both on by the layers they are known to share; false if there are
  /// none.
  static bool advance(Cursor &A, Cursor &B);

private:
  bool atPeriod() const { return Run == 0 && Taken == 0; }
  int64_t periodsLeft() const { return S[Group].Periods - Period; }
  /// One run repeated is one longer run.
  bool isPlain() const { return S[Group].Runs.size() == 1; }
  int64_t layersLeft() const {
    int64_t Count = S[Group].Runs[Run].Count;
    return (isPlain() ? Count * S[Group].Periods : Count) - Taken;
  }
  void skipPeriods(int64_t N);
  void skipLayers(int64_t N);

  const LayerSequence &S;
  size_t Group = 0;
  int64_t Period = 0;
  size_t Run = 0;
  int64_t Taken = 0; ///< layers of the run
};

class StageVerifier {
public:
  StageVerifier(const Program &P, DiagnosticEngine &Diags)
      : P(P), Diags(Diags), Range(P.Spec.Parallel.Pp.Range) {
    if (P.Facts.contains(Fact::Scheduled))
      Placed.Placement = P.Schedule.Placement;
    Placed.Stages = P.Mesh[Axis::Pp];
  }

  void run();

private:
  bool verifyOrder();
  bool verifyChunks();
  void verifyEnds(const Stage &S);
  void verifyLayers();
  bool holds(Cursor &Sequence, const LayerSequence &Chunk);

  const Program &P;
  DiagnosticEngine &Diags;
  SourceRange Range;
  Schedule Placed; ///< which part is where; it has no programs
  int64_t Steps = 0;
};

/// More than a job has, and little enough to walk.
constexpr int64_t MaxSteps = int64_t(1) << 20;

} // namespace

void Cursor::skipPeriods(int64_t N) {
  Period += N;
  if (Period == S[Group].Periods) {
    Period = 0;
    ++Group;
  }
}

void Cursor::skipLayers(int64_t N) {
  bool EndsRun = N == layersLeft();
  Taken = EndsRun ? 0 : Taken + N;
  if (!EndsRun)
    return;
  if (isPlain())
    return skipPeriods(S[Group].Periods);
  if (++Run < S[Group].Runs.size())
    return;
  Run = 0;
  skipPeriods(1);
}

bool Cursor::advance(Cursor &A, Cursor &B) {
  if (A.atPeriod() && B.atPeriod() && !A.isPlain() &&
      A.S[A.Group].Runs == B.S[B.Group].Runs) {
    int64_t N = std::min(A.periodsLeft(), B.periodsLeft());
    A.skipPeriods(N);
    B.skipPeriods(N);
    return true;
  }
  if (A.block() != B.block())
    return false;
  int64_t N = std::min(A.layersLeft(), B.layersLeft());
  A.skipLayers(N);
  B.skipLayers(N);
  return true;
}

bool StageVerifier::verifyOrder() {
  int64_t Next = 0;
  for (const Stage &S : P.Stages) {
    if (S.First != Next) {
      Diags.report(Range, diag::VerifyStageOrder, S.First, Next);
      return false;
    }
    Next = S.First + S.Count;
  }
  if (Next != P.Mesh[Axis::Pp])
    Diags.report(Range, diag::VerifyStageCount, Next, P.Mesh[Axis::Pp]);
  return Next == P.Mesh[Axis::Pp];
}

bool StageVerifier::verifyChunks() {
  using Chunks = Quantity<struct ChunkUnit>;
  Chunks First;
  for (const Stage &S : P.Stages) {
    Chunks N;
    for (const ChunkRun &C : S.Chunks)
      N += Chunks(C.Count);
    if (&S == &P.Stages.front())
      First = N;
    if (N.isOverflow() || (N * P.Mesh[Axis::Pp]).isOverflow() ||
        N.value() * P.Mesh[Axis::Pp] > MaxSteps) {
      Diags.report(Range, diag::VerifyTooLarge, MaxSteps);
      return false;
    }
    if (N != First || N.value() == 0) {
      Diags.report(Range, diag::VerifyChunks, S.First, N.value(),
                   std::max(First.value(), int64_t(1)));
      return false;
    }
  }
  Placed.Chunks = First.value();
  if (Placed.Placement == PlacementKind::Loop || Placed.Chunks == 2)
    return true;
  Diags.report(Range, diag::VerifyChunks, P.Stages.front().First, Placed.Chunks,
               2);
  return false;
}

/// A stage receives unless it has the first part, and sends unless it has the
/// last one.
void StageVerifier::verifyEnds(const Stage &S) {
  auto Holds = [&](int64_t Stage, int64_t Part) {
    for (int64_t Chunk = 0; Chunk < Placed.Chunks; ++Chunk)
      if (Placed.partOf(Stage, Chunk) == Part)
        return true;
    return false;
  };
  const int64_t Last = S.First + S.Count - 1;
  for (int64_t Stage = S.First;; Stage = Last) { // others are not at an end
    if (S.ReceivesForward == Holds(Stage, 0))
      Diags.report(Range, diag::VerifyStageEnds, Stage, "receives", "first");
    if (S.SendsForward == Holds(Stage, Placed.parts() - 1))
      Diags.report(Range, diag::VerifyStageEnds, Stage, "sends", "last");
    if (Stage == Last)
      return;
  }
}

/// Returns whether \p Chunk is what \p Sequence goes on with.
bool StageVerifier::holds(Cursor &Sequence, const LayerSequence &Chunk) {
  Cursor C(Chunk);
  while (!C.atEnd()) {
    if (++Steps > MaxSteps) {
      Diags.report(Range, diag::VerifyTooLarge, MaxSteps);
      return false;
    }
    llvm::StringRef Has = P.Blocks[C.block()].Name;
    if (Sequence.atEnd() || !Cursor::advance(Sequence, C)) {
      Diags.report(Range, diag::VerifyStageLayers, Has,
                   Sequence.atEnd()
                       ? llvm::StringRef("nothing more")
                       : llvm::StringRef(P.Blocks[Sequence.block()].Name));
      return false;
    }
  }
  return true;
}

/// Part by part; where there are two copies, both.
void StageVerifier::verifyLayers() {
  Cursor Sequence(P.Layers);
  for (int64_t Part = 0; Part < Placed.parts(); ++Part) {
    const Schedule::Place At = Placed.placeOf(Part);
    const LayerSequence &Layers =
        stageAt(P.Stages, At.Stage).layersOf(At.Chunk);
    if (!holds(Sequence, Layers))
      return;
    if (Placed.Placement == PlacementKind::Bidirectional &&
        stageAt(P.Stages, Placed.Stages - 1 - Part).layersOf(1) != Layers)
      return void(Diags.report(Range, diag::VerifyCopies, Part));
  }
  if (!Sequence.atEnd())
    Diags.report(Range, diag::VerifyStageLayers, "nothing more",
                 P.Blocks[Sequence.block()].Name);
}

void StageVerifier::run() {
  if (!verifyOrder() || !verifyChunks())
    return;
  for (const Stage &S : P.Stages) {
    verifyEnds(S);
    if (!S.Step.isValid() && P.Facts.contains(Fact::Sync))
      Diags.report(Range, diag::VerifyStep, S.First);
  }
  verifyLayers();
}

void foretrace::ir::verifyStages(const Program &P, DiagnosticEngine &Diags) {
  StageVerifier(P, Diags).run();
}

std::string foretrace::ir::describeStage(const Program &P, int64_t Stage) {
  const Located<RankOrderKind> &Order = P.Spec.Parallel.RankOrder;
  // A program without a spec has none.
  const RankMap Map(P.Mesh,
                    Order.isPresent() ? *Order : RankOrderKind::TpCpEpDpPp);
  return llvm::formatv("stage {0} (rank {1})", Stage,
                       Map.at(0, {Axis::Pp}, Stage));
}
