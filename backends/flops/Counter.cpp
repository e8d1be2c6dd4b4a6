// SPDX-License-Identifier: Apache-2.0
#include "backends/flops/Counter.h"
#include "analysis/LayerCounts.h"
#include "ir/model/OpKinds.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::flops;

Work &Work::operator+=(const Work &More) {
  for (auto Of : {&Work::Forward, &Work::Recomputed, &Work::Backward}) {
    this->*Of = this->*Of + More.*Of;
  }
  return *this;
}

Work Work::operator*(Expr Times) const {
  Work Product = *this;
  for (auto Of : {&Work::Forward, &Work::Recomputed, &Work::Backward}) {
    (Product.*Of).Value *= Times.value();
    (Product.*Of).From = Times * (Product.*Of).From;
  }
  return Product;
}

static Work::Amount &amountOf(Work &Of, Phase In) {
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

Work Counter::none() {
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
  return Work * (IsBackward ? 4 : 2); // none comes before it, but 6 N has it
}

/// How often the options count scores.
int64_t Counter::timesCounted(const Block &B, const Op &Scores) const {
  const BlockSpec *Spec = P->Spec.Model.findBlock(B.Name);
  const bool IsThrice = Scores.Phase == Phase::Recompute &&
                        O.Hardware == HardwareCount::Korthikanti && Spec &&
                        *P->Spec.recomputeOf(*Spec) == RecomputeKind::Selective;
  return (IsThrice ? 3 : 1) * (O.Attention == AttentionCount::Full ? 2 : 1);
}

std::optional<Expr> Counter::countOp(const Block &B, const Op &Of,
                                     WorkOf Whose) {
  if (Of.Kind == OpKind::Embed && O.Embedding)
    return lookupWork(P, B, Of, Whose);
  const std::optional<Expr> Size = workOf(P, B, Of, Whose);
  if (!Size)
    return std::nullopt;
  switch (workKindOf(B, Of)) {
  case WorkKind::Product:
    return Size;
  case WorkKind::Scores:
    return *Size * timesCounted(B, Of);
  case WorkKind::Router:
    return O.Router ? Size : std::nullopt;
  }
  llvm_unreachable("every kind is handled");
}

Work Counter::countBlock(const Block &B, WorkOf Whose) {
  Work Sum = none();
  for (const Op &Of : B.Ops) {
    const std::optional<Expr> Size = countOp(B, Of, Whose);
    if (!Size)
      continue;
    if (!Size->hasValue()) {
      IsOverflow = true;
      break;
    }
    Work::Amount &To = amountOf(Sum, Of.Phase);
    To.Value += Size->value();
    To.From += *Size;
  }
  return Sum;
}

Counter::Counter(const Program &Of, const Options &O) : P(Of), O(O) {
  llvm::DenseMap<unsigned, Work> OnRank;
  for (const auto &[Index, Layers] : layersByBlock(P->Layers)) {
    const Block &B = P->Blocks[BlockId(Index)];
    Blocks.push_back({B.Name, Layers, countBlock(B, WorkOf::Replica)});
    OnRank.try_emplace(Index, countBlock(B, WorkOf::Rank));
  }
  if (IsOverflow)
    return;
  const Expr MicroBatches = microBatchesOfChunk(P);
  const int64_t RanksOfStage = *P->Spec.Parallel.World / P->Schedule.Stages;
  for (const Stage &S : P->Stages) {
    Work Sum = none();
    for (const auto &[Index, Layers] : layersByBlock(S))
      Sum += OnRank.find(Index)->second * (numberOf(P, Layers) * MicroBatches);
    Stages.push_back({nameOf(S), S.Count * RanksOfStage, Sum});
  }
}

/// Of a replica.
Work Counter::ofMicroBatch() {
  Work Sum = none();
  for (const BlockWork &B : Blocks)
    Sum += B.OfReplica * numberOf(P, B.Layers);
  return Sum;
}

Work Counter::iteration() {
  const ParallelSpec &Par = P->Spec.Parallel;
  return ofMicroBatch() * (exprOf(P, Par.Ga) * exprOf(P, Par.Dp));
}

Work::Amount Counter::ofToken() {
  const Work::Amount Of = ofMicroBatch().model();
  const Expr Tokens =
      exprOf(P, P->Spec.Train.Sequence) * exprOf(P, P->Spec.Train.MicroBatch);
  return {Of.Value / Tokens.value(), floorDiv(Of.From, Tokens)};
}

Work::Amount Counter::tokensOfIteration() {
  const TrainSpec &T = P->Spec.Train;
  const Expr Tokens = exprOf(P, T.Sequence) * exprOf(P, T.GlobalBatch);
  return {__int128(*T.Sequence) * *T.GlobalBatch, Tokens};
}

__int128 Counter::repeated() {
  __int128 Done = 0;
  for (const StageWork &S : Stages)
    Done += S.OfRank.hardware().Value * S.Ranks;
  return Done - iteration().hardware().Value;
}
