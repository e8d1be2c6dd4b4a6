// SPDX-License-Identifier: Apache-2.0
#include "analysis/Overlap.h"
#include "analysis/Analyses.h"
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

/// Sets Op::HiddenLaw. Sums of durations are exact, so their order does not
/// matter.
class Overlapper {
public:
  Overlapper(Program &P, CollectiveTimes *Places)
      : P(P), Parameters(P), Zero(numberOf(P, 0)) {
    if (Places)
      Laws.emplace(P, *Places);
  }

  void block(Block &B);
  void step(unsigned Stage);

private:
  using Ops = llvm::SmallVector<Op *, 16>;
  RealExpr of(Number Id) const { return Parameters[Id]; }
  Expr timeOf(const Op &O) const {
    return O.Law.Id.isValid() ? Expr(P.Sizes, O.Law.Id) : Zero;
  }
  Expr hiddenOf(const Op &O) const {
    return O.HiddenLaw.Id.isValid() ? Expr(P.Sizes, O.HiddenLaw.Id) : Zero;
  }
  Expr exposedOf(const Op &O) const {
    return O.HiddenLaw.Id.isValid() ? timeOf(O) + hiddenOf(O) * -1 : timeOf(O);
  }
  template <typename OpsT> RealExpr sumOf(const OpsT &Of) const;
  RealExpr productTime(const Block &B, OpId Of, Derivative D) const;
  void hide(Op &O, RealExpr Time) const;
  void hideTogether(llvm::ArrayRef<Op *> Of, RealExpr Time) const;
  void hideOverTp(Block &B) const;
  void hideAttention(Block &B) const;
  void hideExchanges(Block &B) const;
  void hideZero(Block &B) const;
  RealExpr lastBucket(const Op &O, const Stage &S) const;
  void hideBehind(const Ops &Of, unsigned Stage, ActionKind Pass) const;

  /// Time for which a pass keeps links busy: those of the network, and those
  /// of a domain.
  struct LinkUse {
    Expr Network, Domain;
  };
  void add(const Op &Collective, Expr Times, LinkUse &To) const;
  void share(Op &O, const LinkUse &Busy, RealExpr Window) const;

  Program &P;
  const JobNumbers Parameters;
  const Expr Zero;
  std::optional<CollectiveLaws> Laws; ///< none without a cluster
};

} // namespace

/// Returns the time that the ops of \p Of take, less what is hidden.
template <typename OpsT> RealExpr Overlapper::sumOf(const OpsT &Of) const {
  llvm::SmallVector<ExprId, 16> Times;
  for (const Op *O : Of)
    Times.push_back(exposedOf(*O));
  return RealExpr(ir::sumOf(P, Times));
}

void Overlapper::hide(Op &O, RealExpr Time) const {
  O.HiddenLaw = min(rounded(Time), timeOf(O));
}

/// Hides \p Time of all of \p Of together, of each by its duration. Nothing of
/// them is hidden yet.
void Overlapper::hideTogether(llvm::ArrayRef<Op *> Of, RealExpr Time) const {
  const RealExpr All = sumOf(Of), Nothing = All.number(0);
  for (Op *O : Of)
    hide(*O, select(isLess(Nothing, All), Time * RealExpr(timeOf(*O)) / All,
                    Nothing));
}

static bool isOver(const Op &O, Axis A) {
  return isCollective(O.Kind) && llvm::is_contained(O.Group.Axes, A);
}

/// Returns whether \p O is over replicas, of dense parameters or of experts.
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
RealExpr Overlapper::productTime(const Block &B, OpId Of, Derivative D) const {
  llvm::SmallVector<ExprId, 2> Times;
  for (const Op &O : B.Ops)
    if (O.Kind == OpKind::MatMul && O.Derivative == D && O.For == Of)
      Times.push_back(timeOf(O));
  return RealExpr(ir::sumOf(P, Times));
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
    const RealExpr Time(timeOf(O));
    std::optional<RealExpr> Hidden, Beside;
    if (InPieces && isGatherOrScatter(O))
      Hidden = Time * (1 - of(Number::ExposedTp));
    const unsigned Result = O.Results.front().Index;
    const Op *Maker = makerOf(B, O);
    const bool IsLate =
        InPieces || B.Values[O.Operands.front()].Kind != ValueKind::Gradient;
    if (O.Phase == Phase::Backward && O.Kind == OpKind::AllGather && IsLate &&
        Users[Result] == 1 && OnlyUser[Result]->Derivative == Derivative::Param)
      Beside = productTime(B, OnlyUser[Result]->For, Derivative::Input);
    else if (O.Phase == Phase::Backward && O.Kind != OpKind::AllGather &&
             Maker && Maker->Kind == OpKind::MatMul &&
             Maker->Derivative == Derivative::Input)
      Beside = productTime(B, Maker->For, Derivative::Param);
    if (Beside)
      Beside = min(Time, *Beside);
    if (Hidden || Beside)
      hide(O, Hidden && Beside ? max(*Hidden, *Beside)
              : Hidden         ? *Hidden
                               : *Beside);
  }
}

/// A ring behind the attention of its pass, which works on what is there.
void Overlapper::hideAttention(Block &B) const {
  for (const bool IsBackward : {false, true}) {
    Ops Rings;
    llvm::SmallVector<ExprId, 2> Attention;
    for (Op &O : B.Ops) {
      if ((O.Phase != Phase::Forward) != IsBackward)
        continue;
      if (O.Kind == OpKind::Ring && isOver(O, Axis::Cp))
        Rings.push_back(&O);
      else if (O.Kind == OpKind::Attention)
        Attention.push_back(timeOf(O));
    }
    if (!Rings.empty())
      hideTogether(Rings, min(RealExpr(ir::sumOf(P, Attention)),
                              sumOf(Rings) * (1 - of(Number::ExposedCp))));
  }
}

/// Exchanges of one micro-batch behind the layer's pass for another one in the
/// other direction.
void Overlapper::hideExchanges(Block &B) const {
  Ops Exchanges[2];
  llvm::SmallVector<ExprId, 16> Compute[2];
  for (Op &O : B.Ops) {
    const unsigned IsBackward = O.Phase != Phase::Forward;
    if (O.Kind == OpKind::AllToAll && isOver(O, Axis::Ep))
      Exchanges[IsBackward].push_back(&O);
    else if (!isCollective(O.Kind))
      Compute[IsBackward].push_back(timeOf(O));
  }
  for (const unsigned Of : {0U, 1U})
    hideTogether(Exchanges[Of],
                 min(RealExpr(ir::sumOf(P, Compute[1 - Of])),
                     sumOf(Exchanges[Of]) * (1 - of(Number::ExposedEp))));
}

/// Adds the time of a collective to that of its links, those of a domain or the
/// network.
void Overlapper::add(const Op &Collective, Expr Times, LinkUse &To) const {
  if (!Laws)
    return;
  const Expr Time = timeOf(Collective) * Times;
  const Expr OnNetwork = Time * Laws->isSpread(Collective.Group);
  To.Network += OnNetwork;
  To.Domain += Time + OnNetwork * -1;
}

/// Hides less of \p O, by the share of \p Window in which its links are busy:
/// while both send, each has half of the rate, and delays the other by as much
/// as it sends.
void Overlapper::share(Op &O, const LinkUse &Busy, RealExpr Window) const {
  if (!Laws)
    return;
  const RealExpr Nothing = Window.number(0), All = Window.number(1);
  const RealExpr Used = select(Laws->isSpread(O.Group), RealExpr(Busy.Network),
                               RealExpr(Busy.Domain));
  const RealExpr Free =
      select(isLess(Nothing, Window), max(Nothing, 1 - Used / Window), All);
  hide(O, RealExpr(hiddenOf(O)) * Free);
}

/// Hides communication of weights and gradients of a layer behind others' work.
void Overlapper::hideZero(Block &B) const {
  for (const bool IsBackward : {false, true}) {
    Ops Communication, Others;
    for (Op &O : B.Ops)
      if ((O.Phase != Phase::Forward) == IsBackward)
        (isOverReplicas(O) && isGatherOrScatter(O) ? Communication : Others)
            .push_back(&O);
    if (Communication.empty())
      continue;
    const RealExpr Window = sumOf(Others);
    hideTogether(Communication, min(sumOf(Communication), Window) *
                                    (1 - of(Number::OverlapSlowdown)));
    LinkUse Busy{Zero, Zero};
    for (const Op *O : Others)
      if (isCollective(O->Kind))
        add(*O, numberOf(P, 1), Busy);
    for (Op *O : Communication)
      share(*O, Busy, Window);
  }
}

void Overlapper::block(Block &B) {
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
RealExpr Overlapper::lastBucket(const Op &O, const Stage &S) const {
  const RealExpr All(P.Sizes, P.Sizes.real(1));
  if (!O.Messages.empty())
    return All.number(
        static_cast<double>(O.Messages.back().Each.back().Elements) /
        static_cast<double>(*messageSum(O.Messages)));
  if (S.First != 0 || isOfMegatron(P.Spec.Parallel))
    return All;
  const ValueId Whole =
      O.Kind == OpKind::AllGather ? O.Results.front() : O.Operands.front();
  const RealExpr Elements(
      Expr(P.Sizes, P.Blocks[S.Step].Values[Whole].OnRank.Id));
  const RealExpr Ranks(sizeOf(P, llvm::ArrayRef({Axis::Dp, Axis::Cp})));
  return min(All, max(All.number(LeastOfBucket), OfBucketPerRank * Ranks) /
                      Elements);
}

/// Behind the pass of one micro-batch through all chunks of a kind of stage.
void Overlapper::hideBehind(const Ops &Of, unsigned Stage,
                            ActionKind Pass) const {
  if (Of.empty())
    return;
  const ir::Stage &S = P.Stages[Stage];
  llvm::SmallVector<ExprId, 8> Parts;
  LinkUse Busy{Zero, Zero};
  for (const auto &[Index, Count] : layersByBlock(S)) {
    const Block &B = P.Blocks[BlockId(Index)];
    const Expr Times = ofStage(P, S, KeyId::StageLayers, Index, Count);
    llvm::SmallVector<ExprId, 16> OfBlock;
    for (const auto &[O, Action] : llvm::zip_equal(B.Ops, actionsOf(B))) {
      if (runs(Pass, Action))
        OfBlock.push_back(exposedOf(O));
      if ((O.Phase == Phase::Forward) == (Pass == ActionKind::Forward) &&
          isCollective(O.Kind))
        add(O, Times, Busy);
    }
    Parts.push_back(ir::sumOf(P, OfBlock) * Times);
  }
  const RealExpr Window(ir::sumOf(P, Parts));
  RealExpr Early = Window.number(0); // of all but the last buckets
  const auto ElementOf = [&](const Op &O) {
    return P.Blocks[S.Step].Values[O.Operands.front()].Type.Element;
  };
  for (size_t I = 0; I < Of.size(); ++I) {
    const Op &O = *Of[I];
    const bool IsFirst =
        llvm::none_of(llvm::ArrayRef(Of).take_front(I), [&](const Op *Other) {
          return Other->Group == O.Group && ElementOf(*Other) == ElementOf(O);
        });
    const RealExpr Time(timeOf(O));
    Early = Early + (IsFirst ? Time * (1 - lastBucket(O, S)) : Time);
  }
  hideTogether(Of, min(Early, Window * of(Number::OverlapWindow)) *
                       (1 - of(Number::OverlapSlowdown)));
  for (Op *O : Of)
    share(*O, Busy, Window);
}

void Overlapper::step(unsigned Stage) {
  Block &B = P.Blocks[P.Stages[Stage].Step];
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
    hideBehind(Reductions, Stage, ActionKind::Backward);
  if (P.Spec.Parallel.OverlapParamGather.is(true))
    hideBehind(Gathers, Stage, ActionKind::Forward);
}

void foretrace::hideCommunication(Program &P, CollectiveTimes *Places) {
  Overlapper Of(P, Places);
  for (Block &B : P.Blocks)
    if (!llvm::any_of(B.Ops,
                      [](const Op &O) { return O.Phase == Phase::Step; }))
      Of.block(B);
  for (unsigned Stage = 0; Stage < P.Stages.size(); ++Stage)
    Of.step(Stage);
  for (Block &B : P.Blocks)
    for (Op &O : B.Ops)
      O.Hidden = P.Sizes.value(O.HiddenLaw);
}
