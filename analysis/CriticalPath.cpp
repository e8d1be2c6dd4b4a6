// SPDX-License-Identifier: Apache-2.0
#include "analysis/CriticalPath.h"
#include "analysis/LayerCounts.h"
#include "analysis/StepTimes.h"
#include "ir/model/OpKinds.h"
#include "ir/ranks/StepOps.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <tuple>

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// Sums the times on the path, by line and by stage.
class PathSum {
public:
  PathSum(const Program &P, const IterationTime &T) : P(P), T(T), Times(P) {
    Out.Stages.resize(T.Stages.size());
  }

  /// Adds a step or a message of \p Stage, \p Count times over.
  void add(int64_t Stage, const Action &A, int64_t Count);
  void addUpdate(int64_t Stage);
  CriticalPath result() &&;

  StepTimes &times() { return Times; }

private:
  void addStep(int64_t Stage, const Action &A, int64_t Count, Nanoseconds Time);
  void add(const Block &B, const Op &O, int64_t Count);
  void add(SourceRange Where, std::string Part, Nanoseconds Time);
  /// Adds the part of \p Time that its ops do not account for.
  void addHost(Nanoseconds Time);
  Nanoseconds &timeOfStage(int64_t Stage);

  const Program &P;
  const IterationTime &T;
  StepTimes Times;
  std::map<std::tuple<FileId, uint32_t, std::string>, LineTime> Lines;
  Nanoseconds OfOps; ///< of what was added by add(Block, Op)
  CriticalPath Out;
};

} // namespace

Nanoseconds &PathSum::timeOfStage(int64_t Stage) {
  const auto It = llvm::find_if(T.Stages, [&](const StageWorkTime &Of) {
    return Stage < Of.First + Of.Count;
  });
  return Out.Stages[static_cast<size_t>(It - T.Stages.begin())];
}

void PathSum::add(SourceRange Where, std::string Part, Nanoseconds Time) {
  if (Time == Nanoseconds())
    return;
  LineTime &Line = Lines[{Where.File, Where.Begin, Part}];
  Line.Where = Where;
  Line.Part = std::move(Part);
  Line.Time += Time;
}

void PathSum::add(const Block &B, const Op &O, int64_t Count) {
  const Nanoseconds Time = O.exposed() * Count;
  if (isView(O.Kind) || Time == Nanoseconds())
    return;
  OfOps += Time;
  add(O.Origin.Range, partOf(P, B, O).Name, Time);
}

void PathSum::addHost(Nanoseconds Time) {
  add({}, partName(TimePart::Kind::Host).str(),
      Nanoseconds(Time.value() - OfOps.value()));
  OfOps = {};
}

void PathSum::addStep(int64_t Stage, const Action &A, int64_t Count,
                      Nanoseconds Time) {
  auto LayersOf = [&](int64_t Stage, const Action &A) {
    return isMessage(A.Kind)
               ? nullptr
               : &stageAt(P.Stages, Stage).layersOf(A.Chunk);
  };
  const auto It = llvm::find_if(Out.Steps, [&](const PathStep &Other) {
    return Other.Action.Kind == A.Kind && Other.Time == Time &&
           LayersOf(Other.Stage, Other.Action) == LayersOf(Stage, A);
  });
  if (It != Out.Steps.end())
    It->Count += Count;
  else if (Time != Nanoseconds())
    Out.Steps.push_back({Stage, A, Count, Time});
}

void PathSum::add(int64_t Stage, const Action &A, int64_t Count) {
  const Nanoseconds OfEach(Times(Stage, A));
  const Nanoseconds Time = OfEach * Count;
  addStep(Stage, A, Count, OfEach);
  timeOfStage(Stage) += Time;
  if (isMessage(A.Kind)) {
    add(P.Spec.Parallel.Pp.Range, partName(TimePart::Kind::Messages).str(),
        Time);
    return;
  }
  for (const auto &[Index, Layers] :
       layersByBlock(stageAt(P.Stages, Stage).layersOf(A.Chunk))) {
    const Block &B = P.Blocks[BlockId(Index)];
    for (const auto &[O, OfOp] : llvm::zip_equal(B.Ops, actionsOf(B)))
      if (runs(A.Kind, OfOp))
        add(B, O, Layers * Count);
  }
  addHost(Time);
}

void PathSum::addUpdate(int64_t Stage) {
  Out.Last = Stage;
  const Block &B = P.Blocks[stageAt(P.Stages, Stage).Step];
  for (const Op &O : B.Ops)
    add(B, O, 1);
  timeOfStage(Stage) += OfOps;
  OfOps = {};
}

CriticalPath PathSum::result() && {
  for (auto &[Key, Line] : Lines)
    Out.Lines.push_back(std::move(Line));
  llvm::stable_sort(Out.Lines, [](const LineTime &A, const LineTime &B) {
    return A.Time.value() > B.Time.value();
  });
  return std::move(Out);
}

CriticalPath foretrace::criticalPath(const Program &P, const IterationTime &T) {
  PathSum Sum(P, T);
  const std::optional<PipelinePath> Path = PipelineTimer().path(
      P.Schedule, Sum.times(), updatesOf(T), T.Total.value());
  if (Path) {
    for (const auto &[Step, Count] : Path->Steps)
      Sum.add(Step.Stage, Step.Action, Count);
    Sum.addUpdate(Path->Last);
  } else {
    const int64_t Stage = T.Stages[T.Busiest].First;
    for (int64_t Chunk = 0; Chunk < P.Schedule.Chunks; ++Chunk)
      for (const ActionKind Kind :
           {ActionKind::Forward, ActionKind::Backward}) {
        Action A;
        A.Kind = Kind;
        A.Chunk = Chunk;
        Sum.add(Stage, A, P.Schedule.microBatchesOfChunk());
      }
    Sum.addUpdate(Stage);
  }
  CriticalPath Out = std::move(Sum).result();
  Out.IsExact = Path.has_value();
  if (!Out.IsExact)
    Out.Steps.clear();
  return Out;
}
