// SPDX-License-Identifier: Apache-2.0
#include "analysis/IterationTime.h"
#include "analysis/KernelTimes.h"
#include "analysis/LayerCounts.h"
#include "analysis/PipelineTime.h"
#include "analysis/StepTimes.h"
#include "ir/model/Boundary.h"
#include "ir/model/OpKinds.h"
#include "ir/ranks/StepOps.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <map>

using namespace foretrace;
using namespace foretrace::ir;

using Number = KernelParameterId;
using Kind = TimePart::Kind;

namespace {

/// Sums the parts of one stage.
class StageParts {
public:
  StageParts(const Program &P, const Stage &S) : P(P), S(S) {}

  std::vector<TimePart> run();

private:
  void add(const Block &B, int64_t Times);
  void add(const Block &B, const Op &O, int64_t Times);

  const Program &P;
  const Stage &S;
  std::vector<TimePart> Parts;
};

} // namespace

static Number errorOf(KernelClass C) {
  switch (C) {
  case KernelClass::Product:
    return Number::ErrorProduct;
  case KernelClass::GroupedProduct:
    return Number::ErrorGrouped;
  case KernelClass::Attention:
  case KernelClass::UnfusedAttention:
  case KernelClass::Scan:
    return Number::ErrorAttention;
  case KernelClass::Stream:
  case KernelClass::Embedding:
  case KernelClass::Optimizer:
  case KernelClass::Fused:
    return Number::ErrorStream;
  }
  llvm_unreachable("every class is handled");
}

std::vector<int64_t> foretrace::updatesOf(const IterationTime &T) {
  std::vector<int64_t> Updates;
  for (const StageWorkTime &Of : T.Stages)
    Updates.insert(Updates.end(), static_cast<size_t>(Of.Count),
                   Of.Update.value());
  return Updates;
}

llvm::StringLiteral foretrace::partName(Kind K) {
  switch (K) {
  case Kind::Host:
    return "launches of kernels";
  case Kind::Messages:
    return "messages between stages";
  case Kind::Waiting:
    return "waiting for stages";
  case Kind::Compute:
  case Kind::Collective:
    break;
  }
  llvm_unreachable("a kind with several parts");
}

TimePart foretrace::partOf(const Program &P, const Block &B, const Op &O) {
  TimePart Part;
  if (isCollective(O.Kind)) {
    Part.Is = Kind::Collective;
    Part.Name =
        getMnemonic(O.Kind).str() + " over " + textOf(O.Group, P.Spec, P.Mesh);
    Part.Error = Number::ErrorLinks;
    return Part;
  }
  const KernelClass C = kernelClassOf(P, B, O);
  Part.Is = Kind::Compute;
  Part.Name = getName(C);
  Part.Error = errorOf(C);
  Part.IsSustained = Part.Error != Number::ErrorStream;
  return Part;
}

void StageParts::add(const Block &B, const Op &O, int64_t Times) {
  if (isView(O.Kind) || O.Time == Nanoseconds())
    return;
  TimePart Of = partOf(P, B, O);
  auto It = llvm::find_if(Parts, [&](const TimePart &Known) {
    return Known.Is == Of.Is && Known.Name == Of.Name;
  });
  if (It == Parts.end())
    It = Parts.insert(It, std::move(Of));
  const Nanoseconds Time = O.exposed() * Times;
  It->Time += Time;
  It->Hidden += O.Hidden * Times;
  if (!Time.isOverflow() &&
      (!It->Where.isValid() || Time.value() > It->Largest.value())) {
    It->Where = O.Origin.Range;
    It->Largest = Time;
  }
}

void StageParts::add(const Block &B, int64_t Times) {
  for (const Op &O : B.Ops)
    add(B, O, Times);
}

std::vector<TimePart> StageParts::run() {
  const int64_t MicroBatches = P.Schedule.microBatchesOfChunk();
  for (const auto &[Index, Layers] : layersByBlock(S))
    add(P.Blocks[BlockId(Index)], Layers * MicroBatches);
  add(P.Blocks[S.Step], 1);
  llvm::stable_sort(
      Parts, [](const TimePart &A, const TimePart &B) { return A.Is < B.Is; });
  return std::move(Parts);
}

static StageWorkTime stageTimeOf(const Program &P, const Stage &S,
                                 StepTimes &Times) {
  StageWorkTime W{S.First, S.Count, {}, {}, {}, {}, {}};
  for (const ChunkRun &Chunk : S.Chunks) {
    W.Forward += Times.ofStep(Chunk.Layers, ActionKind::Forward) * Chunk.Count;
    W.Backward +=
        Times.ofStep(Chunk.Layers, ActionKind::Backward) * Chunk.Count;
  }
  W.Steps = (W.Forward + W.Backward) * P.Schedule.microBatchesOfChunk();
  W.Update = updateTime(P.Blocks[S.Step]);
  return W;
}

/// Parts with the same error are one bias; the others, and sustained rates, are
/// independent of it. Waiting has the error of all work.
static double uncertaintyOf(const Program &P, llvm::ArrayRef<TimePart> Parts) {
  std::map<Number, double> Times;
  double Work = 0;
  for (const TimePart &Of : Parts) {
    if (Of.Is == Kind::Waiting)
      continue;
    const auto Time = static_cast<double>(Of.Time.value());
    Work += Time;
    Times[Of.Error] += Time;
    if (Of.IsSustained)
      Times[Number::ErrorSustained] += Time;
  }
  double Squares = 0;
  for (const auto &[Error, Time] : Times) {
    const double Deviation = Time * *P.Spec.Cost.kernel(Error);
    Squares += Deviation * Deviation;
  }
  constexpr double NineOfTen = 1.645; // of a normal distribution
  return NineOfTen * std::sqrt(Squares) / Work;
}

/// Returns an upper bound of the iteration: all steps, updates and messages one
/// after the other.
static Nanoseconds boundOf(const Program &P, StepTimes &Times,
                           llvm::ArrayRef<StageWorkTime> Stages) {
  Nanoseconds Sum;
  for (const StageWorkTime &Of : Stages)
    Sum += (Of.Steps + Of.Update) * Of.Count;
  Nanoseconds OfMicroBatch; // its messages
  for (int64_t Stage = 0; Stage < P.Schedule.Stages; ++Stage)
    for (const StageMessages &M : messagesOf(P, Stage))
      OfMicroBatch +=
          Times.ofMessage(boundaryBytes(P, M.Boundary), M.Distance) * M.Count;
  return Sum + OfMicroBatch * P.Schedule.MicroBatches;
}

IterationTime foretrace::workOfStages(const Program &P, StepTimes &Times) {
  IterationTime Out;
  Nanoseconds Most;
  for (const Stage &S : P.Stages) {
    const StageWorkTime W = stageTimeOf(P, S, Times);
    const Nanoseconds Busy = W.Steps + W.Update;
    if (Busy.isOverflow()) {
      Out.Total = Nanoseconds::overflow();
      return Out;
    }
    if (Out.Stages.empty() || Busy.value() > Most.value()) {
      Most = Busy;
      Out.Busiest = Out.Stages.size();
    }
    Out.Stages.push_back(W);
  }
  if (boundOf(P, Times, Out.Stages).isOverflow())
    Out.Total = Nanoseconds::overflow();
  return Out;
}

void foretrace::addOps(const Program &P, IterationTime &To) {
  To.Parts = StageParts(P, P.Stages[To.Busiest]).run();
}

int64_t foretrace::WithoutMessages::operator()(int64_t Stage,
                                               const Action &A) const {
  return isMessage(A.Kind) ? 0 : Times(Stage, A);
}

/// Returns the time of an iteration of a schedule that takes \p Total: that of a
/// model of a few bytes is not 0.
static int64_t notZero(int64_t Total) { return std::max<int64_t>(Total, 1); }

void foretrace::addSchedule(const Program &P, int64_t Total,
                            int64_t WithoutMessages, IterationTime &To) {
  const StageWorkTime &Busiest = To.Stages[To.Busiest];
  const int64_t Most = Busiest.Steps.value() + Busiest.Update.value();
  auto Add = [&](Kind Of, int64_t Time, Number Error) {
    TimePart Part{Of, partName(Of).str(), Nanoseconds(Time), {}};
    Part.Error = Error;
    To.Parts.push_back(std::move(Part));
  };
  int64_t OfOps = 0;
  for (const TimePart &Of : To.Parts)
    OfOps += Of.Time.value();
  if (OfOps != Most)
    Add(Kind::Host, Most - OfOps, Number::ErrorHost);
  if (P.Schedule.Stages > 1) {
    Add(Kind::Messages, Total - WithoutMessages, Number::ErrorLinks);
    Add(Kind::Waiting, WithoutMessages - Most, Number::ErrorHost);
  }
  if (Total != notZero(Total))
    Add(Kind::Host, notZero(Total) - Total, Number::ErrorHost);
  To.Uncertainty = uncertaintyOf(P, To.Parts);
}

void foretrace::setTotal(int64_t Total, IterationTime &To) {
  To.Total = Nanoseconds(notZero(Total));
  for (StageWorkTime &Of : To.Stages)
    Of.Idle = Nanoseconds(To.Total.value() - Of.Steps.value() -
                          Of.Update.value());
}

IterationTime foretrace::estimateIteration(const Program &P) {
  StepTimes Times(P);
  PipelineTimer Timer;
  IterationTime Out = workOfStages(P, Times);
  if (Out.Total.isOverflow())
    return Out;
  const std::vector<int64_t> Updates = updatesOf(Out);
  const int64_t Total = Timer.time(P.Schedule, Times, Updates);
  addOps(P, Out);
  addSchedule(P, Total,
              Timer.time(P.Schedule, WithoutMessages{Times}, Updates), Out);
  setTotal(Total, Out);
  return Out;
}
