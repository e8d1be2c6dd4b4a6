// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/TraceFit.h"
#include "analysis/CollectiveTimes.h"
#include "analysis/HostTimeline.h"
#include "analysis/KernelTimes.h"
#include "analysis/OpTimes.h"
#include "analysis/PipelineTime.h"
#include "analysis/StepTimes.h"
#include "ir/model/OpKinds.h"
#include "ir/model/Routing.h"
#include "passes/Passes.h"
#include "tools/runs/Fit.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;

namespace foretrace::fit {

using Id = ir::KernelParameterId;
using megatron::RowKind;

/// Tokens of each expert if the first rank has \p Load times the mean, and the
/// others share the rest.
static ir::Routing routingOf(double Load, int64_t Experts, int64_t Ranks) {
  ir::Routing R;
  R.Is = ir::Routing::Kind::Tokens;
  constexpr double Mean = ir::MeanLoad;
  const auto Count = static_cast<double>(Ranks);
  for (int64_t E = 0; E < Experts; ++E)
    R.Tokens.push_back(std::llround(E < Experts / Ranks
                                        ? Load * Mean
                                        : (Count - Load) / (Count - 1) * Mean));
  return R;
}

std::unique_ptr<CompiledJob> withMeasuredLoad(const CompiledJob &Job,
                                              const runs::Calibration &Run) {
  ir::Spec Changed = *Job.spec();
  const int64_t Ranks = *Changed.Parallel.Ep;
  const double Load = std::min(Run.expertLoad(), static_cast<double>(Ranks));
  for (const ir::BlockSpec &B : Changed.Model.Blocks)
    if (const Located<int64_t> *Experts = ir::routedExperts(B);
        Experts && Ranks > 1 && Load > 1 && **Experts <= ir::MaxRoutedExperts)
      Changed.Train.Routing.state(routingOf(Load, **Experts, Ranks).text(), {});
  return Job.vary(std::move(Changed));
}

/// Returns the medians of collectives and messages of each size, without what
/// gradients are scaled.
static std::vector<Measurement> messagesOf(const ir::Program &P,
                                           const runs::Calibration &Run) {
  CollectiveTimes Links(P);
  using Key = std::tuple<std::string, std::optional<ir::OpKind>, double>;
  std::map<Key, std::pair<LinkPlace, std::vector<double>>> Times;
  const double Scaling = Run.gradientScaling();
  Run.forEachMeeting(
      [&](const ir::ProcessGroup &G, const runs::Calibration::Meeting &M) {
        const auto Ranks = static_cast<double>(Run.members(G));
        const double Time = M.Least - Scaling * M.Elements;
        if (Ranks < 2 || Time < runs::LeastTime || M.WireBytes <= 0)
          return;
        const double Size =
            megatron::Timing::messageSize(M.Comm, Run.members(G), M.WireBytes);
        auto &[At, Of] = Times[{G.Name.str(), M.Comm, Size}];
        At = M.Comm ? Links.placeOf(G.Group) : Links.placeOfMessage(1);
        Of.push_back(Time);
      });
  std::vector<Measurement> Found;
  for (auto &[Of, Measured] : Times) {
    const auto &[Name, Comm, Size] = Of;
    // A ring of two ranks is a message.
    Found.push_back(
        {CollectiveShape{Comm.value_or(ir::OpKind::Ring), Measured.first, Size},
         runs::median(Measured.second) * 1e-9});
  }
  return Found;
}

namespace {

/// Estimates steps and the pipeline of a job with other parameters.
class StepEstimator {
public:
  explicit StepEstimator(const ir::Program &P) : P(P) {}

  /// The program has the parameters \p With from now on.
  void set(const LawParameters &With) {
    With.store(P.Spec.Cost);
    DiagnosticEngine Nobody;
    annotateCosts(P, Nobody);
  }
  double step(const runs::Calibration::StepTime &Of) const {
    return static_cast<double>(
        StepTimes(P, StepTimes::Waits::ForExchanges)
            .ofStep(P.Stages[indexOf(*Of.Stage)].layersOf(Of.Chunk),
                    Of.Kind == RowKind::ForwardStep ? ir::ActionKind::Forward
                                                    : ir::ActionKind::Backward)
            .value());
  }
  /// Returns the time until the first stage has run all steps.
  double pipeline(double Gap) const {
    StepTimes Times(P, StepTimes::Waits::ForExchanges);
    const std::vector<int64_t> NoUpdates(
        static_cast<size_t>(P.Schedule.Stages));
    return static_cast<double>(pipelineTime(
        P.Schedule,
        [&](int64_t Stage, const ir::Action &A) {
          return Times(Stage, A) + (isCompute(A.Kind) ? std::llround(Gap) : 0);
        },
        NoUpdates));
  }

  /// Returns the work of experts between exchanges, on a rank with that load.
  double experts(const runs::Calibration::ExpertTime &Of) const;

private:
  Nanoseconds timeOf(const ir::Block &B, const ir::Op &O, double Scale) const;
  size_t indexOf(const ir::Stage &S) const {
    return static_cast<size_t>(
        find_if(P.Stages,
                [&](const ir::Stage &Of) { return Of.First == S.First; }) -
        P.Stages.begin());
  }

  ir::Program P;
};

} // namespace

/// Returns the duration of \p O with \p Scale times the rows of experts.
Nanoseconds StepEstimator::timeOf(const ir::Block &B, const ir::Op &O,
                                  double Scale) const {
  switch (kernelClassOf(P, B, O)) {
  case KernelClass::GroupedProduct: {
    ir::ExprOverlay Sizes(P);
    ProductShapeOf<ir::RealExpr> S = productShapeOf(Sizes, B, O);
    ir::RealExpr &Rows = S.IsOfWeight ? S.K : S.M;
    Rows = Rows * Scale;
    const ir::Expr Time = nanoseconds(JobLaws(JobNumbers(Sizes)).timeOf(S));
    return ir::ExprScope(Sizes).Sizes.value(ir::TimeExpr(Time));
  }
  case KernelClass::Stream: // of rows
    return roundedTime(Scale * static_cast<double>(O.Time.value()) * 1e-9);
  default:
    return O.Time;
  }
}

double StepEstimator::experts(const runs::Calibration::ExpertTime &Of) const {
  const auto Phase = Of.IsBackward ? ir::Phase::Backward : ir::Phase::Forward;
  const double Most =
      P.Spec.Train.ExpertLoad.isPresent()
          ? static_cast<double>(*P.Spec.Train.ExpertLoad) / ir::MeanLoad
          : 1;
  const Nanoseconds Launch(std::llround(*P.Spec.Cost.kernel(Id::Launch) * 1e3));
  for (const ir::Block &B : P.Blocks) {
    auto IsExchange = [&](const ir::Op &O) {
      return O.Phase == Phase && O.Kind == ir::OpKind::AllToAll;
    };
    const auto Ops = ArrayRef<ir::Op>(&*B.Ops.begin(), B.Ops.size());
    const auto *First = find_if(Ops, IsExchange);
    if (First == Ops.end())
      continue;
    const auto *Last = First;
    for (const ir::Op &O : Ops)
      if (IsExchange(O))
        Last = &O;
    HostTimeline Between;
    for (const ir::Op &O : Ops) {
      // Frameworks run both gradients of a product one after the other.
      const bool IsOfExperts =
          (&O > First && &O < Last) ||
          (O.Kind == ir::OpKind::MatMul &&
           kernelClassOf(P, B, O) == KernelClass::GroupedProduct);
      if (O.Phase == Phase && IsOfExperts && !isCollective(O.Kind) &&
          O.Time != Nanoseconds())
        Between.launch(timeOf(B, O, Of.Load / Most), Launch);
    }
    return static_cast<double>(Between.time().value());
  }
  return 0;
}

/// The parameters that benchmarks of single kernels do not determine.
static std::vector<Id> parametersOfSteps(const ir::Program &P) {
  std::vector<Id> Of = {Id::SustainedBf16, Id::EmbeddingEfficiency};
  if (!P.Spec.Train.CudaGraphs.is(true))
    Of.push_back(Id::Launch);
  bool HasExperts = false, IsInFp8 = false, NeedsCounts = false;
  for (const ir::Block &B : P.Blocks)
    for (const ir::Op &O : B.Ops) {
      const bool IsExchange = O.Kind == ir::OpKind::AllToAll;
      HasExperts |= IsExchange;
      NeedsCounts |= IsExchange && needsCounts(P, B);
      IsInFp8 |=
          O.Kind == ir::OpKind::MatMul &&
          B.Values[O.Operands.front()].Type.Element == ir::ElementType::FP8;
    }
  if (HasExperts)
    Of.insert(Of.end(), {NeedsCounts ? Id::GroupedStart : Id::GroupedFlex,
                         Id::GroupedWeight, Id::GroupedAccumulation});
  if (IsInFp8)
    Of.push_back(Id::SustainedFp8);
  return Of;
}

PipelineEstimate fitRun(ProfileFit &To, const ir::Program &Job,
                        const runs::Calibration &Run) {
  constexpr double WeightOfStart = 0.02; // of a few noisy durations
  To.fit(messagesOf(Job, Run), WeightOfStart);
  std::vector<runs::Calibration::StepTime> Steps = Run.steps();
  erase_if(Steps, [](const runs::Calibration::StepTime &S) {
    return (S.Kind != RowKind::ForwardStep &&
            S.Kind != RowKind::BackwardStep) ||
           S.Time < runs::LeastTime;
  });
  std::vector<runs::Calibration::ExpertTime> Experts = Run.expertTimes();
  constexpr double Busy = 0.5; // ranks with less wait for the others
  StepEstimator Estimate(Job);
  Estimate.set(To.before());
  erase_if(Experts, [&](const runs::Calibration::ExpertTime &E) {
    return E.Load < Busy || Estimate.experts(E) == 0;
  });
  std::vector<double> Spans;
  for (const auto &[Rank, Of] : Run.pipelines())
    if (Of.Stage == 0)
      Spans.insert(Spans.end(), Of.Measured.begin(), Of.Measured.end());
  PipelineEstimate Whole{runs::median(std::move(Spans)), 0, 0};
  const double Gap = Run.hostGap();
  Whole.Before = Estimate.pipeline(Gap);
  const std::vector<Id> Parameters = parametersOfSteps(Job);
  std::vector<double> Weights(Steps.size() + Experts.size(), 1);
  if (Whole.Measured > 0)
    Weights.push_back(5); // what is to be estimated in the end
  To.fit(
      "steps",
      {Parameters,
       Weights,
       [&](const LawParameters &With, MutableArrayRef<double> Ratios) {
         Estimate.set(With);
         double *Ratio = Ratios.begin();
         for (const runs::Calibration::StepTime &S : Steps)
           *Ratio++ = Estimate.step(S) / S.Time;
         for (const runs::Calibration::ExpertTime &E : Experts)
           *Ratio++ = Estimate.experts(E) / E.Time;
         if (Ratio != Ratios.end())
           *Ratio = Estimate.pipeline(Gap) / Whole.Measured;
       },
       WeightOfStart,
       {{Id::Launch, 16}, {Id::Launch, 64}, {Id::EmbeddingEfficiency, 0.02}}});
  Estimate.set(To.after());
  Whole.After = Estimate.pipeline(Gap);
  return Whole;
}

void report(const ProfileFit &Of, const PipelineEstimate &Whole, RowFormat As,
            raw_ostream &OS) {
  Of.report(As, OS);
  if (Whole.Measured == 0)
    return;
  auto Error = [&](double Estimate) {
    return 100 * (Estimate / Whole.Measured - 1);
  };
  if (As == RowFormat::Table)
    OS << format("\nforward and backward: %.1f ms measured, %.1f ms before "
                 "(%+.1f %%), %.1f ms fitted (%+.1f %%)\n",
                 Whole.Measured / 1e6, Whole.Before / 1e6, Error(Whole.Before),
                 Whole.After / 1e6, Error(Whole.After));
  else
    writeRows({{"measured_ms", true},
               {"before_ms", true},
               {"before_error_%", true},
               {"fitted_ms", true},
               {"fitted_error_%", true}},
              {{formatv("{0:F1}", Whole.Measured / 1e6).str(),
                formatv("{0:F1}", Whole.Before / 1e6).str(),
                formatv("{0:F1}", Error(Whole.Before)).str(),
                formatv("{0:F1}", Whole.After / 1e6).str(),
                formatv("{0:F1}", Error(Whole.After)).str()}},
              As, OS);
}

} // namespace foretrace::fit
