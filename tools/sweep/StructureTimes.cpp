// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/StructureTimes.h"
#include "analysis/Analyses.h"
#include "analysis/FlopCounter.h"
#include "analysis/OpTimes.h"
#include "analysis/Overlap.h"
#include "ir/model/SpecKeys.h"
#include "passes/Passes.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace foretrace::sweep {

/// Room for what is kept of some jobs.
template <typename MapT> static bool isFull(const MapT &Kept) {
  constexpr size_t MaxKept = 4096;
  return Kept.size() >= MaxKept;
}

StructureTimes::StructureTimes(const ir::Program &Of,
                               std::shared_ptr<StageSplits> Known)
    : P(Of), Known(std::move(Known)) {
  FlopCounter Flops(P, {});
  HasWork = !Flops.isOverflow();
  OfMicroBatch = Flops.ofMicroBatch().model().From;
  OfJob = tokensOfIteration(P).From;
  for (const ir::Axis A : ir::allAxes())
    Ranks.push_back(sizeOf(P, A));
  for (const ir::ExprNode &N : P.Sizes)
    if (N.Op == ir::ExprOp::Key && N.Left.isValid() && findField(P.Spec, N.Key))
      Derived.push_back(N.Key);
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
  if (isFull(Splits)) {
    Splits.clear();
    Last = nullptr;
  }
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

/// Null without a cluster.
CollectiveTimes *StructureTimes::links() {
  if (!P.Spec.Cluster)
    return nullptr;
  MeshNumbers Mesh;
  for (const ir::Axis A : ir::allAxes())
    Mesh[static_cast<size_t>(A)] = P.Mesh[A];
  if (isFull(Links))
    Links.clear();
  return &Links.try_emplace(Mesh, P).first->second;
}

/// Sets the durations of all ops.
bool StructureTimes::time() {
  CollectiveTimes *Of = links();
  for (ir::Block &B : P.Blocks)
    for (auto [O, T] : zip_equal(B.Ops, timesOf(P, B, Of))) {
      if (T.Time.isOverflow())
        return false;
      O.Time = T.Time;
      O.Hidden = {};
    }
  hideCommunication(P, Of);
  return true;
}

/// Gives expressions the values of the spec, and of the stages of \p Of;
/// numbers that follow from others get those in the spec.
void StructureTimes::revalue(const Split *Of) {
  P.Sizes.revalue([&](ir::Key K) -> std::optional<int64_t> {
    if (ir::isOfStage(K.Id)) {
      if (!Of)
        return std::nullopt;
      const auto It = find_if(
          Of->Counts, [&](const StageCount &C) { return C.first == K; });
      return It == Of->Counts.end() ? std::nullopt : std::optional(It->second);
    }
    if (is_contained(Derived, K))
      return std::nullopt;
    const Located<int64_t> *F = findField(P.Spec, K);
    return F && F->isPresent() ? std::optional(F->Value) : std::nullopt;
  });
  for (const ir::Key K : Derived)
    findField(P.Spec, K)->Value = P.Sizes.value(*P.Sizes.find(K));
}

TimeFigures StructureTimes::figures(ArrayRef<Number> Numbers,
                                    PipelineTimer &Timer,
                                    function_ref<bool(size_t)> IsWanted) {
  for (const auto &[Key, Value] : Numbers)
    findField(P.Spec, Key)->Value = Value;
  revalue(nullptr);
  for (const auto &[A, Of] : zip_equal(ir::allAxes(), Ranks))
    P.Mesh[A] = P.Sizes.value(Of);
  const Split *Of = split();
  if (!Of)
    return {};
  if (Of != Last) {
    P.Schedule = Of->Schedule;
    for (const auto &[To, From] : zip_equal(P.Stages, Of->Stages)) {
      To.First = From.First;
      To.Count = From.Count;
      To.Chunks = From.Chunks;
    }
    Last = Of;
  }
  revalue(Of);
  ir::ExprOverlay Sizes(P);
  JobFigures Figures(Sizes, Validity::ThisJob);
  const bool IsTimed = P.Facts.contains(ir::Fact::Costs) &&
                       P.Spec.Cost.Kind.is(ir::CostKind::Estimate) && time();
  if (IsTimed)
    Figures.setIteration(estimateIteration(P, Timer, links()), work());
  TimeFigures Out(allFigures().size(), ir::NoValue);
  for (size_t F = 0; F < Out.size(); ++F)
    if (const auto Id = static_cast<FigureId>(F);
        IsWanted(F) && isOfJobAlone(Id, P) && (IsTimed || !isOfTime(Id)))
      if (const std::optional<ir::Expr> E =
              Figures.of(static_cast<FigureId>(F)))
        Out[F] = E->value();
  return Out;
}

} // namespace foretrace::sweep
