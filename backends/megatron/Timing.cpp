// SPDX-License-Identifier: Apache-2.0
#include "backends/megatron/Timing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <limits>

using namespace foretrace;
using namespace foretrace::megatron;
using llvm::StringRef;

Timing::Timing(const ir::Program &P) : P(P), Received(0) {
  const ir::Spec &S = P.Spec;
  for (const ir::BlockSpec &B : S.Model.Blocks)
    if (B.Moe)
      Received = std::max(Received, *S.Train.Sequence / *S.Parallel.Cp *
                                        *S.Train.MicroBatch * *B.Moe->TopK);
}

int64_t Timing::measured(StringRef Name) const {
  const ir::ProfileTime *T = P.Spec.Cost.findTime(Name);
  return T ? std::llrint(T->Microseconds * 1000.0) : 0;
}

/// As far as it is less than what nothing takes longer than.
static int64_t bounded(double Time) {
  return std::llrint(std::min(Time, static_cast<double>(Timing::MaxTime)));
}

int64_t Timing::chunkTime(const ir::LayerSequence &Layers,
                          bool IsBackward) const {
  Nanoseconds Sum;
  for (const ir::LayerGroup &G : Layers)
    for (const ir::BlockRun &R : G.Runs) {
      Nanoseconds OfBlock;
      for (const ir::Op &O : P.Blocks[R.Block].Ops)
        if ((O.Phase != ir::Phase::Forward) == IsBackward)
          OfBlock += O.Time;
      Sum += OfBlock * R.Count * G.Periods;
    }
  return Sum.isOverflow() ? MaxTime : std::min(Sum.value(), MaxTime);
}

int64_t Timing::compute(const RowBody &B, const ir::Stage &S,
                        int64_t Chunk) const {
  auto ChunkTime = [&](bool IsBackward) {
    return chunkTime(S.layersOf(Chunk), IsBackward);
  };
  if (B.Op == "forward_step")
    return ChunkTime(/*IsBackward=*/false);
  if (B.Op == "backward_step")
    return ChunkTime(/*IsBackward=*/true);
  if (B.Op == "optimizer_step") {
    Nanoseconds Time;
    for (const ir::Op &O : P.Blocks[S.Step].Ops)
      if (O.Kind == ir::OpKind::Optimizer)
        Time += O.Time;
    return Time.value();
  }
  return measured(B.Op);
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
        Count += elementsPerRank(Step.Values[V], P.Mesh);
  return Count.value();
}

int64_t Timing::total(const RowBody &B, const ir::Stage &S,
                      int64_t Chunk) const {
  Nanoseconds Sum(compute(B, S, Chunk));
  if (std::optional<Message> M = messageOf(B))
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

const ir::ProcessGroup *Timing::groupOf(StringRef Kind) {
  const StringRef Name = llvm::StringSwitch<StringRef>(Kind)
#define GROUP_KIND(KIND, GROUP) .Case(KIND, GROUP)
#include "backends/megatron/GroupKinds.def"
                             .Default("");
  for (const ir::ProcessGroup &G : ir::allProcessGroups())
    if (G.Name == Name)
      return &G;
  return nullptr;
}

int64_t Timing::groupSize(const ir::ProcessGroup &G) const {
  return G.Group.size(P.Mesh);
}

std::optional<Message> Timing::messageOf(const RowBody &B) {
  if (B.GroupKind.empty() || B.Shape.empty() || B.reduces())
    return std::nullopt;
  return Message{B.GroupKind,
                 B.GroupKind == "pp" ? StringRef("send")
                                     : StringRef("allreduce"),
                 B.Shape, B.DType};
}

int64_t Timing::elements(StringRef Shape) const {
  Elements Count(1);
  if (!Shape.consume_front("["))
    return 0;
  while (!Shape.empty()) {
    int64_t N = Received;
    if (!Shape.consume_front("R") && Shape.consumeInteger(10, N))
      return 0;
    Count = Count * N;
    Shape = Shape.drop_front(std::min<size_t>(Shape.size(), 1)).ltrim();
  }
  return Count.isOverflow() ? 0 : Count.value();
}

/// Bytes of a torch type.
static int64_t bytesOfType(StringRef DType) {
  return llvm::StringSwitch<int64_t>(DType)
      .Case("torch.bool", 1)
      .Cases("torch.bfloat16", "torch.float16", 2)
      .Case("torch.float32", 4)
      .Default(8);
}

/// NCCL tests, PERFORMANCE.md: bus bandwidth of each collective.
double Timing::wireBytes(const Message &M) const {
  const ir::ProcessGroup *G = groupOf(M.GroupKind);
  if (!G)
    return 0;
  const auto N = static_cast<double>(groupSize(*G));
  const double Bytes = static_cast<double>(elements(M.Shape)) *
                       static_cast<double>(bytesOfType(M.DType));
  return Bytes * llvm::StringSwitch<double>(M.Comm)
                     .Case("allreduce", 2 * (N - 1) / N)
                     .Case("allgather", N - 1) // the shape is one rank's part
                     .Case("all_to_all", (N - 1) / N)
                     .Default(1);
}

double Timing::wireBytes(const Transfer &T) {
  if (T.Size.isOverflow())
    return std::numeric_limits<double>::infinity();
  const auto N = static_cast<double>(T.Ranks);
  return static_cast<double>(T.Size.value()) * (N - 1) / N *
         (T.Kind == ir::OpKind::AllReduce ? 2 : 1);
}

int64_t Timing::transfer(StringRef GroupKind, double WireBytes) const {
  const ir::ProcessGroup *G = groupOf(GroupKind);
  const ir::LinkSpec *Link = G ? P.Spec.Cost.findLink(linkOf(*G)) : nullptr;
  if (!Link)
    return 0;
  const double Time = WireBytes * 1e9 / static_cast<double>(*Link->Bandwidth);
  return std::min(*Link->Latency, MaxTime) + bounded(Time);
}

int64_t Timing::transfer(const Message &M) const {
  const ir::ProcessGroup *G = groupOf(M.GroupKind);
  return G && groupSize(*G) > 1 ? transfer(M.GroupKind, wireBytes(M)) : 0;
}

int64_t Timing::transfer(const Transfer &T) const {
  return transfer(T.GroupKind, wireBytes(T));
}
