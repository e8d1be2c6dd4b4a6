// SPDX-License-Identifier: Apache-2.0
#include "analysis/Overlap.h"
#include "analysis/LayerCounts.h"
#include "ir/model/OpKinds.h"
#include "ir/model/Shares.h"
#include "ir/ranks/StepOps.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <optional>

using namespace foretrace;
using namespace foretrace::ir;

using Number = KernelParameterId;

namespace {

/// Sets Op::Hidden, with durations as numbers.
class Overlapper {
public:
  Overlapper(Program &P, CollectiveTimes *Links) : P(P), Links(Links) {}

  void block(Block &B) const;
  void step(const Stage &S) const;

private:
  using Ops = llvm::SmallVector<Op *, 16>;
  double of(Number Id) const { return *P.Spec.Cost.kernel(Id); }
  void hideOverTp(Block &B) const;
  void hideAttention(Block &B) const;
  void hideExchanges(Block &B) const;
  void hideZero(Block &B) const;
  double lastBucket(const Op &O, const Stage &S) const;
  void hideBehind(const Ops &Of, const Stage &S, ActionKind Pass) const;
  /// Time for which a pass keeps links busy: those of the network, and those
  /// of a domain, by isWithin.
  struct LinkUse {
    double Times[2] = {0, 0};
    double &operator[](bool IsWithin) { return Times[IsWithin]; }
  };
  /// Whether the op sends over the links of a domain, not over the network.
  bool isWithin(const Op &O) const {
    return Links && Links->placeOf(O.Group).isWithin();
  }

  Program &P;
  CollectiveTimes *Links; ///< null without a cluster, where nothing is sent
};

} // namespace

static double asReal(Nanoseconds Time) {
  return static_cast<double>(Time.isOverflow() ? INT64_MAX : Time.value());
}

/// The time that the ops of \p Of take, less what is hidden.
template <typename OpsT> static double sumOf(const OpsT &Of) {
  double Sum = 0;
  for (const Op *O : Of)
    Sum += asReal(O->Time) - asReal(O->Hidden);
  return Sum;
}

static void hide(Op &O, double Time) {
  O.Hidden = Nanoseconds(std::min<int64_t>(std::llrint(Time), O.Time.value()));
}

/// Hides \p Time of all of \p Of together, of each by its duration. Nothing of
/// them is hidden yet.
static void hideTogether(llvm::ArrayRef<Op *> Of, double Time) {
  const double All = sumOf(Of);
  for (Op *O : Of)
    hide(*O, All == 0 ? 0 : Time * asReal(O->Time) / All);
}

static bool isOver(const Op &O, Axis A) {
  return isCollective(O.Kind) && llvm::is_contained(O.Group.Axes, A);
}

/// Whether \p O is over replicas, of dense parameters or of experts.
static bool isOverReplicas(const Op &O) {
  return isOver(O, Axis::Dp) || isOver(O, Axis::Edp);
}

static bool isOnlyOver(const Op &O, Axis A) {
  return isOver(O, A) && O.Group.Axes.size() == 1;
}

static bool isGatherOrScatter(const Op &O) {
  return O.Kind == OpKind::AllGather || O.Kind == OpKind::ReduceScatter;
}

/// Returns the time of the products that compute a derivative of \p Of.
static double productTime(const Block &B, OpId Of, Derivative D) {
  double Time = 0;
  for (const Op &O : B.Ops)
    if (O.Kind == OpKind::MatMul && O.Derivative == D && O.For == Of)
      Time += asReal(O.Time);
  return Time;
}

/// Returns the op that computes what \p Of communicates, or null.
static const Op *makerOf(const Block &B, const Op &Of) {
  for (const Op &O : B.Ops)
    if (llvm::is_contained(O.Results, Of.Operands.front()))
      return &O;
  return nullptr;
}

/// Backward, an input that is gathered again for the gradient of a weight is
/// needed after the product of the other gradient, whose sum over tp is needed
/// after the product of the weight's (Megatron-LM, tensor_parallel/layers.py,
/// LinearWithGradAccumulationAndAsyncCommunication). Userbuffers overlap a
/// collective with the product next to it, too, piece by piece; without them
/// both gathers of a gradient end before its products begin (Transformer
/// Engine, pytorch/module/base.py, grad_output_preprocess).
void Overlapper::hideOverTp(Block &B) const {
  const bool InPieces = P.Spec.Parallel.TpCommOverlap.is(true) &&
                        *P.Spec.Parallel.SequenceParallel;
  const double Exposed = InPieces ? of(Number::ExposedTp) : 1;
  std::vector<const Op *> OnlyUser(B.Values.size());
  std::vector<unsigned> Users(B.Values.size());
  for (const Op &O : B.Ops)
    for (const ValueId V : O.Operands) {
      OnlyUser[V.Index] = &O;
      ++Users[V.Index];
    }
  for (Op &O : B.Ops) {
    if (!isOnlyOver(O, Axis::Tp))
      continue;
    double Hidden = isGatherOrScatter(O) ? asReal(O.Time) * (1 - Exposed) : 0;
    const unsigned Result = O.Results.front().Index;
    const Op *Maker = makerOf(B, O);
    double Beside = 0;
    const bool IsLate =
        InPieces || B.Values[O.Operands.front()].Kind != ValueKind::Gradient;
    if (O.Phase == Phase::Backward && O.Kind == OpKind::AllGather && IsLate &&
        Users[Result] == 1 && OnlyUser[Result]->Derivative == Derivative::Param)
      Beside = productTime(B, OnlyUser[Result]->For, Derivative::Input);
    else if (O.Phase == Phase::Backward && O.Kind != OpKind::AllGather &&
             Maker && Maker->Kind == OpKind::MatMul &&
             Maker->Derivative == Derivative::Input)
      Beside = productTime(B, Maker->For, Derivative::Param);
    hide(O, std::max(Hidden, std::min(asReal(O.Time), Beside)));
  }
}

/// A ring behind the attention of its pass, which works on what is there.
void Overlapper::hideAttention(Block &B) const {
  for (const bool IsBackward : {false, true}) {
    Ops Rings;
    double Attention = 0;
    for (Op &O : B.Ops) {
      if ((O.Phase != Phase::Forward) != IsBackward)
        continue;
      if (O.Kind == OpKind::Ring && isOver(O, Axis::Cp))
        Rings.push_back(&O);
      else if (O.Kind == OpKind::Attention)
        Attention += asReal(O.Time);
    }
    const double All = sumOf(Rings);
    hideTogether(Rings, std::min(Attention, All * (1 - of(Number::ExposedCp))));
  }
}

/// Exchanges of one micro-batch behind the layer's pass for another one in the
/// other direction.
void Overlapper::hideExchanges(Block &B) const {
  Ops Exchanges[2];
  double Compute[2] = {0, 0};
  for (Op &O : B.Ops) {
    const unsigned IsBackward = O.Phase != Phase::Forward;
    if (O.Kind == OpKind::AllToAll && isOver(O, Axis::Ep))
      Exchanges[IsBackward].push_back(&O);
    else if (!isCollective(O.Kind))
      Compute[IsBackward] += asReal(O.Time);
  }
  for (const unsigned Of : {0U, 1U})
    hideTogether(Exchanges[Of],
                 std::min(Compute[1 - Of],
                          sumOf(Exchanges[Of]) * (1 - of(Number::ExposedEp))));
}

/// Hides less of \p O, by the share of \p Window in which \p Busy keeps its
/// links busy: while both send, each has half of the rate, and delays the
/// other by as much as it sends.
static void share(Op &O, double Busy, double Window) {
  const double Free = Window == 0 ? 1 : std::max(0.0, 1 - Busy / Window);
  hide(O, asReal(O.Hidden) * Free);
}

/// Weights and gradients of one layer behind the work of another.
void Overlapper::hideZero(Block &B) const {
  for (const bool IsBackward : {false, true}) {
    Ops Communication, Others;
    for (Op &O : B.Ops)
      if ((O.Phase != Phase::Forward) == IsBackward)
        (isOverReplicas(O) && isGatherOrScatter(O) ? Communication : Others)
            .push_back(&O);
    const double Window = sumOf(Others);
    hideTogether(Communication, std::min(sumOf(Communication), Window) *
                                    (1 - of(Number::OverlapSlowdown)));
    LinkUse Busy;
    for (const Op *O : Others)
      if (isCollective(O->Kind))
        Busy[isWithin(*O)] += asReal(O->Time);
    for (Op *O : Communication)
      share(*O, Busy[isWithin(*O)], Window);
  }
}

void Overlapper::block(Block &B) const {
  const ParallelSpec &Par = P.Spec.Parallel;
  hideOverTp(B);
  hideAttention(B);
  if (*Par.OverlapExpertComm)
    hideExchanges(B);
  if (*Par.Zero >= 2)
    hideZero(B);
}

/// Returns the share of the gradients of \p O whose reduction begins when the
/// last ones are made, or of the parameters without which no layer can begin.
/// That is all of one message. Others than Megatron-LM have buckets of the size
/// of its, on the first stage. \p O is of the first chunk.
double Overlapper::lastBucket(const Op &O, const Stage &S) const {
  if (!O.Messages.empty())
    return static_cast<double>(O.Messages.back().Each.back().Elements) /
           static_cast<double>(*messageSum(O.Messages));
  if (S.First != 0 || isOfMegatron(P.Spec.Parallel))
    return 1;
  const ValueId Whole =
      O.Kind == OpKind::AllGather ? O.Results.front() : O.Operands.front();
  const auto Elements = static_cast<double>(
      P.Sizes.value(P.Blocks[S.Step].Values[Whole].OnRank).value());
  constexpr double Least = 40e6, OfRank = 1e6; // elements of a bucket
  const auto Ranks =
      static_cast<double>(P.Mesh.groupSize({Axis::Dp, Axis::Cp}));
  return std::min(1.0, std::max(Least, OfRank * Ranks) / Elements);
}

/// Behind the pass of one micro-batch through all chunks of \p S.
void Overlapper::hideBehind(const Ops &Of, const Stage &S,
                            ActionKind Pass) const {
  if (Of.empty())
    return;
  double Window = 0;
  for (const ChunkRun &Chunk : S.Chunks)
    Window += asReal(timeOf(P, Chunk.Layers, Pass)) *
              static_cast<double>(Chunk.Count);
  double Early = 0; // of all but the last buckets
  const auto ElementOf = [&](const Op &O) {
    return P.Blocks[S.Step].Values[O.Operands.front()].Type.Element;
  };
  for (size_t I = 0; I < Of.size(); ++I) {
    const Op &O = *Of[I];
    const bool IsFirst =
        llvm::none_of(llvm::ArrayRef(Of).take_front(I), [&](const Op *Other) {
          return Other->Group == O.Group && ElementOf(*Other) == ElementOf(O);
        });
    Early += asReal(O.Time) * (IsFirst ? 1 - lastBucket(O, S) : 1);
  }
  hideTogether(Of, std::min(Early, Window * of(Number::OverlapWindow)) *
                       (1 - of(Number::OverlapSlowdown)));
  LinkUse Busy;
  for (const auto &[Index, Layers] : layersByBlock(S))
    for (const Op &O : P.Blocks[BlockId(Index)].Ops)
      if ((O.Phase == Phase::Forward) == (Pass == ActionKind::Forward) &&
          isCollective(O.Kind))
        Busy[isWithin(O)] += asReal(O.Time) * static_cast<double>(Layers);
  for (Op *O : Of)
    share(*O, Busy[isWithin(*O)], Window);
}

void Overlapper::step(const Stage &S) const {
  Block &B = P.Blocks[S.Step];
  Ops Reductions, Gathers;
  for (Op &O : B.Ops) {
    if (!isOverReplicas(O) && !isOver(O, Axis::Cp))
      continue;
    if (O.Kind == OpKind::AllGather)
      Gathers.push_back(&O);
    else if (O.Kind == OpKind::ReduceScatter || O.Kind == OpKind::AllReduce)
      Reductions.push_back(&O);
  }
  if (P.Spec.Parallel.OverlapGradReduce.is(true))
    hideBehind(Reductions, S, ActionKind::Backward);
  if (P.Spec.Parallel.OverlapParamGather.is(true))
    hideBehind(Gathers, S, ActionKind::Forward);
}

void foretrace::hideCommunication(Program &P, CollectiveTimes *Given) {
  std::optional<CollectiveTimes> Own;
  if (!Given && P.Spec.Cluster)
    Given = &Own.emplace(P);
  const Overlapper Of(P, Given);
  for (Block &B : P.Blocks)
    if (!llvm::any_of(B.Ops,
                      [](const Op &O) { return O.Phase == Phase::Step; }))
      Of.block(B);
  for (const Stage &S : P.Stages)
    Of.step(S);
}
