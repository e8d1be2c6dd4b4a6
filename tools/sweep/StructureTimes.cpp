// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/StructureTimes.h"
#include "analysis/Analyses.h"
#include "analysis/FlopCounter.h"
#include "ir/model/SpecKeys.h"
#include "passes/Passes.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace foretrace::sweep {

/// Returns whether too many jobs are kept.
template <typename MapT> static bool isFull(const MapT &Kept) {
  constexpr size_t MaxKept = 4096;
  return Kept.size() >= MaxKept;
}

StructureTimes::JobValues::JobValues(ir::Program &P, std::vector<ir::ExprId> Of)
    : P(P), Of(std::move(Of)), Code(P.Sizes, this->Of), Row(Code) {
  for (const auto &[Leaf, L] : enumerate(Code.leaves()))
    if (ir::isOfStage(L.Key.Id) || ir::isOfPlace(L.Key.Id)) {
      CountedLeaves.push_back(Leaf);
      Counted.push_back(L.Key);
    } else if (const Located<int64_t> *F = findField(P.Spec, L.Key)) {
      Fields.emplace_back(Leaf, F);
    }
}

void StructureTimes::JobValues::run(ArrayRef<int64_t> Counts) {
  Row.restart();
  for (const auto &[Leaf, F] : Fields)
    Row.set(Leaf, F->isPresent() ? **F : ir::NoValue);
  for (const auto &[Leaf, Count] : zip_equal(CountedLeaves, Counts))
    Row.set(Leaf, Count);
  for (const auto &[Index, E] : enumerate(Of))
    P.Sizes.assign(E, Row.value(Index));
}

StructureTimes::StructureTimes(const ir::Program &Of,
                               std::shared_ptr<StageSplits> Known)
    : P(Of), Known(std::move(Known)), Steps(P) {
  FlopCounter Flops(P, {});
  HasWork = !Flops.isOverflow();
  OfMicroBatch = Flops.ofMicroBatch().model().From;
  OfJob = tokensOfIteration(P).From;
  std::vector<ir::ExprId> First, Second = {OfMicroBatch, OfJob};
  for (const ir::Axis A : ir::allAxes()) {
    Ranks.push_back(sizeOf(P, A));
    First.push_back(Ranks.back());
  }
  for (const ir::ExprNode &N : P.Sizes)
    if (N.Op == ir::ExprOp::Key && N.Left.isValid() && findField(P.Spec, N.Key))
      Derived.push_back(N.Key);
  for (const ir::Key K : Derived)
    First.push_back(*P.Sizes.find(K));
  auto Add = [&](ir::ExprId E) {
    if (E.isValid())
      Second.push_back(E);
  };
  for (const ir::Block &B : P.Blocks) {
    for (const ir::Op &O : B.Ops) {
      Add(O.Law.Id);
      Add(O.HiddenLaw.Id);
    }
    for (const auto &Sent : {B.Signature.Outputs, B.Signature.OutputGradients})
      for (const ir::ValueId V : Sent)
        Add(B.Values[V].OnRank.Id);
  }
  Numbers.emplace(P, std::move(First));
  Times.emplace(P, std::move(Second));
}

/// All replicas and micro-batches together may have more than 2^63.
JobFigures::AllWork StructureTimes::work() const {
  const int64_t Flops = P.Sizes.value(OfMicroBatch);
  const auto Times =
      static_cast<__int128>(*P.Spec.Parallel.Ga) * *P.Spec.Parallel.Dp;
  return {HasWork && Flops != ir::NoValue ? std::optional(Flops * Times)
                                          : std::nullopt,
          P.Sizes.value(OfJob)};
}

/// The passes that split a job read its spec and layers alone.
const StructureTimes::Split *StructureTimes::split() {
  ir::ParallelSpec Parallel = P.Spec.Parallel;
  SplitNumbers Numbers;
  for (const auto &[F, N] :
       zip_equal(StageSplitter::numbersOf(Parallel), Numbers))
    N = F->isPresent() ? **F : 0;
  const auto [It, IsNew] = Splits.try_emplace(Numbers);
  if (IsNew) {
    ir::Program Scratch;
    Scratch.Spec = P.Spec;
    Scratch.Mesh = P.Mesh;
    Scratch.Layers = P.Layers;
    DiagnosticEngine Nobody;
    if (buildSchedule(Scratch, Nobody) && assignStages(Scratch, Nobody) &&
        Scratch.Stages.size() == P.Stages.size()) {
      const auto Counted = Known->find(Numbers);
      std::vector<StageCount> Counts =
          Counted != Known->end() && Counted->second ? Counted->second->Counts
                                                     : countStages(Scratch);
      It->second = {std::move(Scratch.Schedule), std::move(Scratch.Stages),
                    std::move(Counts)};
    }
  }
  return It->second ? &*It->second : nullptr;
}

/// Returns the counts of stages and the numbers of places that Times reads.
std::vector<int64_t> StructureTimes::countsOf(const Split &Of,
                                              CollectiveTimes *Places) {
  std::vector<int64_t> All;
  for (const ir::Key K : Times->counted()) {
    const auto It =
        find_if(Of.Counts, [&](const StageCount &C) { return C.first == K; });
    All.push_back(It != Of.Counts.end() ? It->second
                  : ir::isOfPlace(K.Id) ? Places->numberAt(K)
                                        : P.Sizes.value(*P.Sizes.find(K)));
  }
  return All;
}

/// Gives all expressions but durations the values that follow from the spec and
/// the stages of \p Of.
void StructureTimes::revalue(const Split &Of) {
  P.Sizes.revalue([&](ir::Key K) -> std::optional<int64_t> {
    if (ir::isOfStage(K.Id)) {
      const auto It =
          find_if(Of.Counts, [&](const StageCount &C) { return C.first == K; });
      return It == Of.Counts.end() ? std::nullopt : std::optional(It->second);
    }
    if (is_contained(Derived, K))
      return std::nullopt;
    const Located<int64_t> *F = findField(P.Spec, K);
    return F && F->isPresent() ? std::optional(F->Value) : std::nullopt;
  });
}

/// Sets the durations of all ops. Returns whether all have one.
bool StructureTimes::time() {
  for (ir::Block &B : P.Blocks)
    for (ir::Op &O : B.Ops) {
      O.Time = P.Sizes.value(O.Law);
      O.Hidden = P.Sizes.value(O.HiddenLaw);
      if (O.Time.isOverflow())
        return false;
    }
  return true;
}

/// Sets the numbers of a job.
MeshNumbers StructureTimes::state(ArrayRef<Number> Job) {
  for (const auto &[Key, Value] : Job)
    findField(P.Spec, Key)->Value = Value;
  Numbers->run({});
  for (const ir::Key K : Derived)
    findField(P.Spec, K)->Value = P.Sizes.value(*P.Sizes.find(K));
  MeshNumbers Mesh;
  for (const auto &[A, Of, Number] : zip_equal(ir::allAxes(), Ranks, Mesh))
    Number = P.Mesh[A] = P.Sizes.value(Of);
  return Mesh;
}

/// Sets the stages.
void StructureTimes::use(const Split &Of) {
  if (&Of == Last)
    return;
  P.Schedule = Of.Schedule;
  for (const auto &[To, From] : zip_equal(P.Stages, Of.Stages)) {
    To.First = From.First;
    To.Count = From.Count;
    To.Chunks = From.Chunks;
  }
  Last = &Of;
}

/// Sets the stages of the job that was stated, and the durations of its ops.
StructureTimes::Started StructureTimes::start(const MeshNumbers &Mesh) {
  Started Job;
  Job.Of = split();
  if (!Job.Of)
    return Job;
  use(*Job.Of);
  CollectiveTimes *Places =
      P.Spec.Cluster ? &Links.try_emplace(Mesh, P).first->second : nullptr;
  const auto [It, IsNew] = Counts.try_emplace(Place(Job.Of, Mesh));
  if (IsNew)
    It->second = countsOf(*Job.Of, Places);
  Times->run(It->second);
  Job.Work = work();
  Job.IsTimed = P.Facts.contains(ir::Fact::Costs) &&
                P.Spec.Cost.Kind.is(ir::CostKind::Estimate) && time();
  Steps.restart(Places);
  return Job;
}

/// Adds the figures of the job that was stated.
void StructureTimes::finish(const Started &Job,
                            function_ref<bool(size_t)> IsWanted,
                            TimeFigures &To) {
  ir::ExprOverlay Sizes(P);
  JobFigures Figures(Sizes, Validity::ThisJob);
  if (Job.IsTimed)
    Figures.setIteration(Job.Time, Job.Work);
  for (size_t F = 0; F < To.size(); ++F)
    if (const auto Id = static_cast<FigureId>(F);
        IsWanted(F) && isOfJobAlone(Id, P) && (Job.IsTimed || !isOfTime(Id)))
      if (const std::optional<ir::Expr> E = Figures.of(Id))
        To[F] = E->value();
}

std::vector<TimeFigures>
StructureTimes::figures(ArrayRef<std::vector<Number>> Jobs,
                        PipelineTimer &Timer,
                        function_ref<bool(size_t)> IsWanted) {
  if (isFull(Counts) || isFull(Splits)) {
    Counts.clear();
    Splits.clear();
    Links.clear();
    Last = nullptr;
  }
  const bool NeedsAllValues =
      IsWanted(static_cast<size_t>(FigureId::CrossNode)) &&
      isOfJobAlone(FigureId::CrossNode, P);
  const bool NeedsParts =
      any_of(seq<size_t>(0, allFigures().size()), [&](size_t F) {
        return IsWanted(F) && isOfParts(static_cast<FigureId>(F));
      });
  std::vector<Started> All(Jobs.size());
  // By split: jobs of a schedule run together.
  std::map<const Split *, std::vector<PipelineRun *>> Open;
  for (const auto &[Job, S] : zip_equal(Jobs, All)) {
    S = start(state(Job));
    if (!S.IsTimed)
      continue;
    S.Time = workOfStages(P, Steps);
    if (S.Time.Total.isOverflow())
      continue;
    const std::vector<int64_t> Updates = updatesOf(S.Time);
    S.Runs.push_back(Timer.prepare(P.Schedule, Steps, Updates));
    if (NeedsParts) {
      addOps(P, S.Time);
      S.Runs.push_back(
          Timer.prepare(P.Schedule, WithoutMessages{Steps}, Updates));
    }
    for (PipelineRun &Run : S.Runs)
      if (!Run.Total)
        Open[S.Of].push_back(&Run);
  }
  for (const auto &[Of, Runs] : Open)
    Timer.finish(Of->Schedule, Runs);
  std::vector<TimeFigures> Out;
  for (const auto &[Job, S] : zip_equal(Jobs, All)) {
    Out.emplace_back(allFigures().size(), ir::NoValue);
    if (!S.Of)
      continue;
    state(Job);
    use(*S.Of);
    if (NeedsAllValues)
      revalue(*S.Of);
    if (!S.Runs.empty()) {
      if (NeedsParts)
        addSchedule(P, *S.Runs[0].Total, *S.Runs[1].Total, S.Time);
      setTotal(*S.Runs[0].Total, S.Time);
    }
    finish(S, IsWanted, Out.back());
  }
  return Out;
}

} // namespace foretrace::sweep
