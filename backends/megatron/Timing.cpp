// SPDX-License-Identifier: Apache-2.0
#include "backends/megatron/Timing.h"
#include "analysis/StepTimes.h"
#include "backends/KnownLayers.h"
#include "ir/model/OpKinds.h"
#include "ir/ranks/StepOps.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>

using namespace foretrace;
using namespace foretrace::megatron;
using llvm::StringRef;

Timing::Timing(const ir::Program &P) : P(P), Received(0) {
  const ir::Spec &S = P.Spec;
  if (*S.Cost.Kind == ir::CostKind::Estimate && S.Cluster)
    Links.emplace(P);
  for (const ir::BlockSpec &B : S.Model.Blocks)
    if (hasExperts(B))
      Received = std::max(Received, *S.Train.Sequence / *S.Parallel.Cp *
                                        *S.Train.MicroBatch *
                                        *B.Network.number("topk"));
}

int64_t Timing::measured(StringRef Name) const {
  const ir::ProfileTime *T = P.Spec.Cost.findTime(Name);
  return T ? T->nanoseconds().value() : 0;
}

/// Rounds \p Time, limited to MaxTime.
static int64_t bounded(double Time) {
  return std::llrint(std::min(Time, static_cast<double>(Timing::MaxTime)));
}

int64_t Timing::updateTime(const ir::Stage &S) const {
  Nanoseconds Time;
  for (const ir::Op &O : P.Blocks[S.Step].Ops)
    if (O.Kind == ir::OpKind::Optimizer)
      Time += O.Time;
  return Time.value();
}

int64_t Timing::stepTime(const RowBody &B, const ir::Stage &S,
                         int64_t Chunk) const {
  const Nanoseconds Time =
      StepTimes(P, StepTimes::Waits::ForExchanges)
          .ofStep(S.layersOf(Chunk), B.Kind == RowKind::ForwardStep
                                         ? ir::ActionKind::Forward
                                         : ir::ActionKind::Backward);
  return Time.isOverflow() ? MaxTime : std::min(Time.value(), MaxTime);
}

int64_t Timing::compute(const RowBody &B, const ir::Stage &S,
                        int64_t Chunk) const {
  switch (B.Kind) {
  case RowKind::ForwardStep:
  case RowKind::BackwardStep: {
    const int64_t Time = stepTime(B, S, Chunk);
    // An estimate is of all that a step does, its calls included.
    return Links ? std::max<int64_t>(Time - within(B), 0) : Time;
  }
  case RowKind::OptimizerStep:
    return updateTime(S);
  default:
    return measured(getName(B.Kind));
  }
}

int64_t Timing::scaling(Elements Gradients) const {
  return Gradients.isOverflow()
             ? MaxTime
             : bounded(static_cast<double>(measured("gradients")) *
                       static_cast<double>(Gradients.value()) / Million);
}

int64_t Timing::parameters(const ir::Stage &S) const {
  const ir::Block &Step = P.Blocks[S.Step];
  Elements Count;
  for (const ir::Op &O : Step.Ops)
    if (O.Kind == ir::OpKind::Optimizer)
      for (ir::ValueId V : O.Operands)
        Count += elementsPerRank(P, Step.Values[V]);
  return Count.value();
}

int64_t Timing::total(const RowBody &B, const ir::Stage &S,
                      int64_t Chunk) const {
  Nanoseconds Sum(compute(B, S, Chunk));
  if (std::optional<TraceMessage> M = messageOf(B))
    Sum += Nanoseconds(transfer(*M));
  Sum += Nanoseconds(within(B));
  return Sum.isOverflow() ? MaxTime : std::min(Sum.value(), MaxTime);
}

int64_t Timing::within(const RowBody &B) const {
  Nanoseconds Sum(scaling(B.Gradients));
  for (const SubOperation &Call : B.SubOperations)
    Sum += Nanoseconds(transfer(messageOf(Call)));
  for (const Transfer &T : B.Transfers)
    Sum += Nanoseconds(transfer(T));
  return Sum.isOverflow() ? MaxTime : std::min(Sum.value(), MaxTime);
}

int64_t Timing::groupSize(const ir::ProcessGroup &G) const {
  return G.Group.size(P.Mesh);
}

Bytes Timing::bytesOf(const LoggedTensor &T) const {
  return foretrace::bytesOf(T.elements(Received), bytesPerElement(T.Element));
}

/// Rows that reduce gradients may log no shape; what they move is in their
/// transfers.
std::optional<TraceMessage> Timing::messageOf(const RowBody &B) const {
  if (!B.Group || !B.Tensor || B.reduces())
    return std::nullopt;
  TraceMessage M{&processGroup(*B.Group), std::nullopt, bytesOf(*B.Tensor)};
  if (B.Group != GroupKind::Pp)
    M.Comm = ir::OpKind::AllReduce;
  return M;
}

TraceMessage Timing::messageOf(const SubOperation &S) const {
  return {S.Ranks, S.Comm, bytesOf(S.Tensor)};
}

static double asDouble(Bytes Size) {
  return Size.isOverflow() ? std::numeric_limits<double>::infinity()
                           : static_cast<double>(Size.value());
}

/// NCCL tests, PERFORMANCE.md: bus bandwidth of each collective. It is what
/// depends on the link alone, however many ranks there are.
double Timing::wireBytes(const TraceMessage &M) const {
  const auto N = static_cast<double>(groupSize(*M.Ranks));
  const double Size = asDouble(M.Size);
  if (!M.Comm)
    return Size;
  switch (*M.Comm) {
  case ir::OpKind::AllReduce:
    return Size * (2 * (N - 1) / N);
  case ir::OpKind::AllGather: // the shape is one rank's part
    return Size * (N - 1);
  case ir::OpKind::ReduceScatter:
  case ir::OpKind::AllToAll:
    return Size * ((N - 1) / N);
  default:
    return Size;
  }
}

double Timing::messageSize(std::optional<ir::OpKind> Comm, int64_t Ranks,
                           double WireBytes) {
  const auto N = static_cast<double>(Ranks);
  if (!Comm || Ranks < 2)
    return WireBytes;
  return WireBytes * N / (N - 1) / (*Comm == ir::OpKind::AllReduce ? 2 : 1);
}

double Timing::wireBytes(const Transfer &T) {
  const auto N = static_cast<double>(T.Ranks);
  return asDouble(T.Size) * (N - 1) / N *
         (T.Kind == ir::OpKind::AllReduce ? 2 : 1);
}

int64_t Timing::transfer(const ir::ProcessGroup &G,
                         std::optional<ir::OpKind> Comm,
                         double WireBytes) const {
  if (Links) {
    const double Size = messageSize(Comm, groupSize(G), WireBytes);
    const Nanoseconds Time =
        Comm ? Links->timeOf(*Comm, G.Group, Size)
             : Links->timeOfMessage(Bytes(bounded(Size)), 1);
    return Time.isOverflow() ? MaxTime : std::min(Time.value(), MaxTime);
  }
  const ir::LinkSpec *Link = P.Spec.Cost.findLink(linkOf(G));
  if (!Link)
    return 0;
  const double Time = WireBytes * 1e9 / static_cast<double>(*Link->Bandwidth);
  return std::min(*Link->Latency, MaxTime) + bounded(Time);
}

int64_t Timing::transfer(const TraceMessage &M) const {
  return groupSize(*M.Ranks) > 1 ? transfer(*M.Ranks, M.Comm, wireBytes(M)) : 0;
}

int64_t Timing::transfer(const Transfer &T) const {
  return transfer(processGroup(T.Group), T.Kind, wireBytes(T));
}
