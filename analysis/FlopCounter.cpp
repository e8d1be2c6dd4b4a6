// SPDX-License-Identifier: Apache-2.0
#include "analysis/FlopCounter.h"
#include "analysis/LayerCounts.h"
#include "ir/model/Routing.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

PhaseWork &PhaseWork::operator+=(const PhaseWork &More) {
  for (auto Of :
       {&PhaseWork::Forward, &PhaseWork::Recomputed, &PhaseWork::Backward}) {
    this->*Of = this->*Of + More.*Of;
  }
  return *this;
}

PhaseWork PhaseWork::operator*(Expr Times) const {
  PhaseWork Product = *this;
  for (auto Of :
       {&PhaseWork::Forward, &PhaseWork::Recomputed, &PhaseWork::Backward}) {
    (Product.*Of).Value *= Times.value();
    (Product.*Of).From = Times * (Product.*Of).From;
  }
  return Product;
}

static PhaseWork::Amount &amountOf(PhaseWork &Of, Phase In) {
  switch (In) {
  case Phase::Forward:
    return Of.Forward;
  case Phase::Recompute:
    return Of.Recomputed;
  case Phase::Backward:
  case Phase::Step:
    return Of.Backward;
  }
  llvm_unreachable("every phase is handled");
}

PhaseWork FlopCounter::none() {
  const Expr Zero = numberOf(P, 0);
  return {{0, Zero}, {0, Zero}, {0, Zero}};
}

/// Rows of a table taken for products with all of it.
static Expr lookupWork(ExprScope P, const Block &B, const Op &O, WorkOf Of) {
  const bool IsBackward = O.Derivative != Derivative::None;
  const Value &Rows = B.Values[IsBackward ? O.Operands[1] : O.Results[0]];
  const Value &Table = B.Values[IsBackward ? O.Results[0] : O.Operands[1]];
  const Expr Work = Of == WorkOf::Rank
                        ? Expr(P.Sizes, Rows.OnRank.Id) *
                              extentOnRank(P, Table.Type, Table.Layout, 0)
                        : elementsOfReplica(P, Rows.Type) *
                              Expr(P.Sizes, Table.Type.Dims[0].Size);
  return Work * (IsBackward ? 4 : 2); // no gradient before it; 6 N has one
}

/// FLOPs of scores as the options count them.
Expr FlopCounter::countScores(const Block &B, const Op &Scores, Expr Executed,
                              WorkOf Whose) const {
  const BlockSpec *Spec = P->Spec.Model.findBlock(B.Name);
  const bool IsThrice = Scores.Phase == Phase::Recompute &&
                        By.Hardware == HardwareCount::Korthikanti && Spec &&
                        *P->Spec.recomputeOf(*Spec) == RecomputeKind::Selective;
  const int64_t Times = IsThrice ? 3 : 1;
  switch (By.Attention) {
  case AttentionCount::Causal:
    return Executed * Times;
  case AttentionCount::Half:
    return halfOfScores(P, B, Scores, Whose) * Times;
  case AttentionCount::Full:
    return halfOfScores(P, B, Scores, Whose) * (2 * Times);
  }
  llvm_unreachable("every count is handled");
}

std::optional<Expr> FlopCounter::countOp(const Block &B, const Op &Of,
                                         WorkOf Whose) {
  if (getInfo(Of.Kind).Work == WorkRule::Rows && By.Embedding)
    return lookupWork(P, B, Of, Whose);
  const std::optional<Expr> Size = workOf(P, B, Of, Whose);
  if (!Size)
    return std::nullopt;
  switch (workKindOf(B, Of)) {
  case WorkKind::Product:
    return Size;
  case WorkKind::Scores:
    return countScores(B, Of, *Size, Whose);
  case WorkKind::Router:
    return By.Router ? Size : std::nullopt;
  }
  llvm_unreachable("every kind is handled");
}

PhaseWork FlopCounter::countBlock(const Block &B, WorkOf Whose) {
  PhaseWork Sum = none();
  for (const Op &Of : B.Ops) {
    const std::optional<Expr> Size = countOp(B, Of, Whose);
    if (!Size)
      continue;
    if (!Size->hasValue()) {
      IsOverflow = true;
      break;
    }
    PhaseWork::Amount &To = amountOf(Sum, Of.Phase);
    To.Value += Size->value();
    To.From += *Size;
  }
  return Sum;
}

FlopCounter::FlopCounter(ExprScope P, const FlopConvention &By) : P(P), By(By) {
  llvm::DenseMap<unsigned, PhaseWork> OnRank;
  for (const auto &[Index, Layers] : layersByBlock(P->Layers)) {
    const Block &B = P->Blocks[BlockId(Index)];
    Blocks.push_back({B.Name, Layers, countBlock(B, WorkOf::Replica)});
    OnRank.try_emplace(Index, countBlock(B, WorkOf::Rank));
  }
  if (IsOverflow)
    return;
  const Expr MicroBatches = microBatchesOfChunk(P);
  for (const Stage &S : P->Stages) {
    PhaseWork Sum = none();
    for (const auto &[Index, Layers] : layersByBlock(S))
      Sum += OnRank.find(Index)->second * (numberOf(P, Layers) * MicroBatches);
    Stages.push_back({&S, ranksOfStage(P), Sum});
  }
}

PhaseWork FlopCounter::ofMicroBatch() {
  PhaseWork Sum = none();
  for (const BlockWork &B : Blocks)
    Sum += B.OfReplica * numberOf(P, B.Layers);
  return Sum;
}

PhaseWork FlopCounter::iteration() {
  const ParallelSpec &Par = P->Spec.Parallel;
  return ofMicroBatch() * (exprOf(P, Par.Ga) * exprOf(P, Par.Dp));
}

PhaseWork::Amount FlopCounter::ofToken() {
  const PhaseWork::Amount Of = ofMicroBatch().model();
  const Expr Tokens =
      exprOf(P, P->Spec.Train.Sequence) * exprOf(P, P->Spec.Train.MicroBatch);
  return {Of.Value / Tokens.value(), floorDiv(Of.From, Tokens)};
}

PhaseWork::Amount foretrace::tokensOfIteration(ExprScope P) {
  const TrainSpec &T = P->Spec.Train;
  const Expr Tokens = exprOf(P, T.Sequence) * exprOf(P, T.GlobalBatch);
  return {__int128(*T.Sequence) * *T.GlobalBatch, Tokens};
}

__int128 FlopCounter::repeated() {
  const bool IsUneven = P->Spec.Train.ExpertLoad.isPresent();
  __int128 Done = 0;
  for (const StageWork &S : Stages) {
    const PhaseWork::Amount OfRank = S.OfRank.hardware();
    const __int128 Mean =
        IsUneven ? withLoad(P, OfRank.From, MeanLoad).value() : OfRank.Value;
    Done += Mean * S.Ranks * S.Of->Count;
  }
  return Done - iteration().hardware().Value;
}
