// SPDX-License-Identifier: Apache-2.0
//
// shard: gives every value a layout on the mesh and makes the collectives that
// follow. No layer is known here, only three rules:
//
//   1. On each axis an op works split along one dimension: that of its
//      parameter, else that of its first split activation. An operand with
//      this dimension must be split along it, one without it must be whole.
//   2. A result without that dimension is a partial sum. It is reduced where it
//      is made: forward to its home layout (HomeLayout.h), backward to the
//      layout of the value it is the gradient of. Gradients of parameters stay
//      partial until `sync`.
//   3. Wherever a layout differs from the one needed, the cheapest sequence of
//      collectives converts it: reductions first, gathers last. What one rank
//      alone has read is broadcast before anything else.
//
// Tensor, sequence, context, expert and expert-tensor parallelism and ZeRO 3
// all come out of these.

#include "passes/BlockBuilder.h"
#include "passes/HomeLayout.h"
#include "passes/Passes.h"
#include "passes/Recompute.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

class Sharder {
public:
  Sharder(const Program &P, Block &B)
      : P(P), B(B), Build(B, "shard"), Old(std::move(B.Ops)) {
    B.Ops = {};
  }

  void run();

private:
  void placeInputs();
  void distributeBatch();
  void shardOp(OpId Id);
  Layout operandLayout(const Op &O, ValueId V) const;
  Layout resultLayout(const Op &O, ValueId V) const;
  std::optional<DimKind> workingDim(const Op &O, Axis A) const;
  Layout gradientLayout(const Value &Gradient) const;
  Layout reducedLayout(const Op &O, ValueId V) const;
  /// Whether \p O takes a term of the sum \p V over \p A, and makes one.
  bool isTerm(const Op &O, ValueId V, Axis A) const {
    return isLinear(O.Kind) && layoutOf(V).isPartial(A);
  }
  bool isBlockOutput(ValueId V) const;
  bool isSummand(ValueId V) const;
  bool exchangesHeads(const Op &O) const;
  bool goesRound(llvm::ArrayRef<Axis> Axes, DimKind K) const;

  llvm::SmallVector<ValueId, 2> dispatchedWith(ValueId V) const;
  Op withCurrentOperands(Op O);
  void gatherAhead(OpId InputGrad);
  ValueId convert(ValueId V, const Layout &To);
  ValueId unsliced(ValueId V);
  ValueId step(ValueId V, OpKind Kind, llvm::ArrayRef<Axis> Axes,
               const Layout &To);
  void enterBackward();

  bool isSequenceParallel() const { return *P.Spec.Parallel.SequenceParallel; }

  /// The value that stands for \p V after its reduction.
  ValueId current(ValueId V) const {
    auto It = Resolved.find(V.Index);
    return It == Resolved.end() ? V : It->second;
  }
  const Layout &layoutOf(ValueId V) const { return B.Values[V].Layout; }
  bool isParamGradient(ValueId V) const {
    const Value &Val = B.Values[V];
    return Val.Kind == ValueKind::Gradient &&
           B.Values[Val.GradientOf].Kind == ValueKind::Param;
  }

  struct Conversion {
    ValueId From;
    Layout To;
    ValueId Result;
    bool Saved; ///< kept from forward to backward
  };

  const Program &P;
  Block &B;
  BlockBuilder Build;
  Table<OpId, Op> Old;
  llvm::SmallVector<OpId> NewId; ///< by old index
  OpId Serving;                  ///< the old op for which conversions are made
  llvm::DenseMap<unsigned, ValueId> Resolved;
  std::vector<Conversion> Conversions;
  Phase CurrentPhase = Phase::Forward;
};

AxisList axesOf(const TensorType &T) {
  return isExpertTensor(T) ? AxisList{Axis::Etp, Axis::Ep, Axis::Edp}
                           : AxisList{Axis::Tp, Axis::Cp, Axis::Dp};
}

} // namespace

void Sharder::placeInputs() {
  for (Value &V : B.Values) {
    if (V.Kind == ValueKind::Param)
      V.Layout = paramLayout(P, V.Type);
    else if (V.Kind == ValueKind::Input)
      V.Layout = inputLayout(P, V.Type);
  }
}

/// What the data loader read is at home before anything runs.
void Sharder::distributeBatch() {
  for (size_t I = 0, E = B.Values.size(); I < E; ++I)
    if (const ValueId V = B.Values.idAt(I);
        B.Values[V].Kind == ValueKind::Input)
      if (ValueId R = convert(V, homeLayout(P, B.Values[V].Type)); R != V)
        Resolved[V.Index] = R;
}

/// Rule 1. Parameters don't move (but for ZeRO 3 shares), activations do.
std::optional<DimKind> Sharder::workingDim(const Op &O, Axis A) const {
  // All tokens are there: what an expert makes of them follows its weights.
  if (isLinear(O.Kind) && A == Axis::Ep)
    return DimKind::Expert;
  if (isLinear(O.Kind) && A == Axis::Etp)
    return std::nullopt;
  if (A == Axis::Cp && exchangesHeads(O))
    return DimKind::Heads;
  auto SplitDim = [&](ValueId V) -> std::optional<DimKind> {
    const Value &Val = B.Values[V];
    if (!Val.Layout.isSplit(A))
      return std::nullopt;
    return Val.Type.Dims[Val.Layout.splitDim(A)].Kind;
  };
  for (ValueId V : O.Operands)
    if (B.Values[V].Kind == ValueKind::Param)
      if (auto D = SplitDim(V))
        return D;
  for (ValueId V : O.Results)
    if (isParamGradient(V))
      if (auto D = SplitDim(B.Values[V].GradientOf))
        return D;
  for (ValueId V : O.Operands)
    if (auto D = SplitDim(V))
      return D;
  return std::nullopt;
}

/// Whether an attention op works on some heads of all tokens, rather than on
/// all heads of some tokens (Jacobs et al., arXiv 2309.14509).
bool Sharder::exchangesHeads(const Op &O) const {
  return O.Kind == OpKind::Attention &&
         *P.Spec.Parallel.CpComm == CpCommKind::AllToAll;
}

/// Whether parts along \p K pass all ranks of \p Axes one by one, rather than
/// being put together (Liu et al., arXiv 2310.01889).
bool Sharder::goesRound(llvm::ArrayRef<Axis> Axes, DimKind K) const {
  return Axes == llvm::ArrayRef(Axis::Cp) && K == DimKind::KvSeq &&
         *P.Spec.Parallel.CpComm == CpCommKind::PointToPoint;
}

static Layout alongDim(Layout L, Axis A, const TensorType &T,
                       std::optional<DimKind> D, bool IsResult) {
  int Index = D ? T.indexOf(*D) : -1;
  if (Index >= 0)
    L.setSplit(A, static_cast<unsigned>(Index));
  else if (D && IsResult)
    L.setPartial(A);
  else
    L.setWhole(A);
  return L;
}

/// The layout \p O needs its operand \p V in.
Layout Sharder::operandLayout(const Op &O, ValueId V) const {
  const TensorType &T = B.Values[V].Type;
  switch (O.Kind) {
  case OpKind::Split:
    return layoutOf(V);
  case OpKind::Permute:
    // Forward the residual stream, backward the slots, as they are.
    return layoutOf(V);
  case OpKind::Unpermute:
  case OpKind::View:
    return isExpertTensor(T) ? homeLayout(P, T) : layoutOf(V);
  case OpKind::Dropout: // masks are of the residual stream
    return homeLayout(P, T);
  default:
    break;
  }
  Layout L = layoutOf(V);
  for (Axis A : axesOf(T))
    if (P.Mesh[A] > 1 && !isTerm(O, V, A))
      L = alongDim(L, A, T, workingDim(O, A), /*IsResult=*/false);
  return L;
}

/// The layout in which \p O leaves its result \p V.
Layout Sharder::resultLayout(const Op &O, ValueId V) const {
  const TensorType &T = B.Values[V].Type;
  switch (O.Kind) {
  case OpKind::Split: // dimensions correspond by position
    return layoutOf(O.Operands[0]);
  case OpKind::Dropout:
    return homeLayout(P, T);
  case OpKind::Permute:
  case OpKind::Unpermute:
  case OpKind::View:
    // Tokens split over tp x cp x dp are slots split over etp x ep x edp:
    // the same ranks, counted the other way.
    return B.Values[V].Kind == ValueKind::Gradient && !isExpertTensor(T)
               ? layoutOf(current(B.Values[V].GradientOf))
               : homeLayout(P, T);
  default:
    break;
  }
  Layout L;
  for (Axis A : axesOf(T))
    if (P.Mesh[A] > 1)
      L = alongDim(L, A, T, workingDim(O, A), /*IsResult=*/true);
  for (Axis A : axesOf(T))
    if (llvm::any_of(O.Operands, [&](ValueId In) { return isTerm(O, In, A); }))
      L.setPartial(A);
  // Megatron-LM doesn't sum the gradient of the rotary key over tp but where it
  // gathered that key (multi_latent_attention.py): each rank goes on with the
  // term of its own heads.
  if (O.Kind == OpKind::Concat && !isSequenceParallel() &&
      L.isPartial(Axis::Tp))
    L.setWhole(Axis::Tp);
  return L;
}

bool Sharder::isBlockOutput(ValueId V) const {
  auto Backward = llvm::find_if(
      Old, [](const Op &O) { return O.Phase == Phase::Backward; });
  return std::prev(Backward)->Results[0] == V;
}

bool Sharder::isSummand(ValueId V) const {
  return llvm::any_of(Old, [&](const Op &O) {
    return O.Kind == OpKind::Add && llvm::is_contained(O.Operands, V);
  });
}

/// ZeRO 2 and 3 reduce the gradient of a parameter to shares as soon as it is
/// made; else it stays partial until `sync`. Where embedding and head share a
/// table, the gradient of the head's use is added to the embedding's.
Layout Sharder::gradientLayout(const Value &Gradient) const {
  const Value &Param = B.Values[Gradient.GradientOf];
  Layout L = Gradient.Layout;
  if (*P.Spec.Parallel.Zero >= 2 && !(Param.Tied && P.Mesh[Axis::Pp] == 1))
    for (Axis A : shareAxes(P, Param.Type))
      L.setFlat(A);
  return L;
}

/// Rule 2: the layout the result \p V of \p O shall have, reductions
/// included.
Layout Sharder::reducedLayout(const Op &O, ValueId V) const {
  const Value &Val = B.Values[V];
  if (llvm::any_of(Old, [V](const Op &User) {
        return isLinear(User.Kind) && llvm::is_contained(User.Operands, V);
      }))
    return Val.Layout; // its user makes terms of terms
  if (isParamGradient(V))
    return gradientLayout(Val);
  if (Val.Kind == ValueKind::Gradient)
    return layoutOf(current(Val.GradientOf));
  Layout Home = homeLayout(P, Val.Type);
  if (isBlockOutput(V))
    return Home;
  if (exchangesHeads(O))
    return Home;
  // Embeddings that are summed are so before the sequence is split
  // (Megatron-LM, LanguageModelEmbedding.reduce_scatter_embeddings).
  if (O.Kind == OpKind::Embed && isSummand(V))
    Home.setWhole(Axis::Tp);
  Layout L = Val.Layout;
  for (Axis A : allAxes()) {
    if (!L.isPartial(A))
      continue;
    if (Home.isSplit(A))
      L.setSplit(A, Home.splitDim(A));
    else
      L.setWhole(A);
  }
  return L;
}

ValueId Sharder::step(ValueId V, OpKind Kind, llvm::ArrayRef<Axis> Axes,
                      const Layout &To) {
  ValueId R = Build.derived(V, getMnemonic(Kind));
  B.Values[R].Layout = To;
  Op &O = B.Ops[Build.op(Kind, B.Values[V].Name, {V}, {R})];
  O.Phase = CurrentPhase;
  O.For = Serving;
  if (isCollective(Kind))
    O.Axes.append(Axes.begin(), Axes.end());
  return R;
}

/// Rule 3. Sequence gathers and ZeRO 3 shares are made again in the backward
/// pass rather than kept (Korthikanti et al., arXiv 2205.05198, section 4.2.2);
/// what the expert dispatcher received is kept. Where a whole layer is
/// recomputed, weights stay gathered from there on.
ValueId Sharder::convert(ValueId V, const Layout &To) {
  if (layoutOf(V) == To)
    return V;
  for (const Conversion &C : Conversions)
    if (C.From == V && C.To == To)
      return C.Result;
  ValueId From = V;
  bool Saved = true;
  AxisList Summed;
  AxisList FlatReduced;
  AxisList FlatGathered;
  for (Axis A : allAxes()) {
    Layout Now = layoutOf(V);
    if (!Now.isSingle(A))
      continue;
    Now.setWhole(A);
    V = step(V, OpKind::Broadcast, {A}, Now);
  }
  // Reductions.
  for (Axis A : allAxes()) {
    Layout Now = layoutOf(V);
    if (!Now.isPartial(A) || To.isPartial(A))
      continue;
    if (To.isFlat(A)) {
      FlatReduced.push_back(A);
    } else if (To.isSplit(A)) {
      const unsigned Dim = To.splitDim(A);
      AxisList Along;
      for (Axis Also : allAxes())
        if (Now.isPartial(Also) && To.isSplit(Also) &&
            To.splitDim(Also) == Dim) {
          Along.push_back(Also);
          Now.setSplit(Also, Dim);
        }
      const DimKind K = B.Values[V].Type.Dims[Dim].Kind;
      V = step(V, goesRound(Along, K) ? OpKind::Ring : OpKind::ReduceScatter,
               Along, Now);
    } else {
      Summed.push_back(A);
    }
  }
  if (!Summed.empty()) {
    Layout Now = layoutOf(V);
    for (Axis A : Summed)
      Now.setWhole(A);
    V = step(V, OpKind::AllReduce, Summed, Now);
  }
  if (!FlatReduced.empty()) {
    Layout Now = layoutOf(V);
    for (Axis A : FlatReduced)
      Now.setFlat(A);
    V = step(V, OpKind::ReduceScatter, FlatReduced, Now);
  }
  // Exchanges, innermost axis last so that each works on the smaller tensor.
  for (Axis A : allAxes()) {
    Layout Now = layoutOf(V);
    if (!Now.isSplit(A) || !To.isSplit(A) || Now.splitDim(A) == To.splitDim(A))
      continue;
    Now.setSplit(A, To.splitDim(A));
    V = step(V, OpKind::AllToAll, {A}, Now);
  }
  // A part of what is whole costs nothing.
  Layout Sliced = layoutOf(V);
  for (Axis A : allAxes())
    if (Sliced.isWhole(A) && To.isSplit(A))
      Sliced.setSplit(A, To.splitDim(A));
  if (Sliced != layoutOf(V))
    V = step(V, OpKind::Slice, {}, Sliced);
  // Gathers.
  for (Axis A : allAxes()) {
    Layout Now = layoutOf(V);
    if (!To.isWhole(A) || Now.isWhole(A))
      continue;
    if (Now.isFlat(A)) {
      FlatGathered.push_back(A);
      continue;
    }
    DimKind K = B.Values[V].Type.Dims[Now.splitDim(A)].Kind;
    Saved &= K != DimKind::Seq && K != DimKind::KvSeq;
    const unsigned Dim = Now.splitDim(A);
    AxisList Along;
    for (Axis Also : allAxes())
      if (Now.isSplit(Also) && To.isWhole(Also) && Now.splitDim(Also) == Dim) {
        Along.push_back(Also);
        Now.setWhole(Also);
      }
    V = step(V, goesRound(Along, K) ? OpKind::Ring : OpKind::AllGather, Along,
             Now);
  }
  if (!FlatGathered.empty()) {
    Layout Now = layoutOf(V);
    for (Axis A : FlatGathered)
      Now.setWhole(A);
    V = step(V, OpKind::AllGather, FlatGathered, Now);
    Saved = recomputationOf(P, B) == RecomputeKind::Full &&
            !*P.Spec.Parallel.ZeroRefetch;
  }
  Conversions.push_back({From, To, V, Saved});
  return V;
}

/// The gradient of a value that was sliced where it was made: what the slice
/// took apart, the gradient puts together.
ValueId Sharder::unsliced(ValueId V) {
  const Value &G = B.Values[V];
  if (G.Kind != ValueKind::Gradient || current(G.GradientOf) == G.GradientOf)
    return V;
  const Layout Made = layoutOf(G.GradientOf);
  for (Axis A : allAxes())
    if (Made.isPartial(A))
      return V;
  return convert(V, Made);
}

/// What the dispatcher of \p V's tokens made, if one did: the tokens of slots
/// and their probabilities go out together, and their dimensions correspond.
llvm::SmallVector<ValueId, 2> Sharder::dispatchedWith(ValueId V) const {
  for (const Op &O : B.Ops)
    if (O.Kind == OpKind::Permute && O.Derivative == Derivative::None &&
        llvm::is_contained(O.Results, V))
      return O.Results;
  return {};
}

void Sharder::enterBackward() {
  CurrentPhase = Phase::Backward;
  llvm::erase_if(Conversions, [](const Conversion &C) { return !C.Saved; });
  // The gradient of the block's output comes from outside.
  for (Value &V : B.Values)
    if (V.Kind == ValueKind::Gradient)
      V.Layout = layoutOf(current(V.GradientOf));
}

/// \p O on values as they are after reductions; but what its own forward op
/// made is at hand as it was made.
Op Sharder::withCurrentOperands(Op O) {
  for (ValueId &V : O.Operands)
    if (!O.For.isValid() || !llvm::is_contained(Old[O.For].Results, V))
      V = unsliced(current(V));
  return O;
}

/// The weight gradient of a column-parallel layer gathers its input before the
/// input gradient is computed, so that the two overlap (Megatron-LM,
/// core/tensor_parallel/layers.py).
void Sharder::gatherAhead(OpId InputGrad) {
  const OpId Next{InputGrad.Index + 1};
  if (!Old.contains(Next) || Old[Next].Derivative != Derivative::Param ||
      Old[Next].For != Old[InputGrad].For)
    return;
  Serving = Next;
  const Op WeightGrad = withCurrentOperands(Old[Next]);
  for (ValueId V : WeightGrad.Operands)
    convert(V, operandLayout(WeightGrad, V));
  Serving = InputGrad;
}

void Sharder::shardOp(OpId Id) {
  if (Old[Id].Phase == Phase::Backward && CurrentPhase == Phase::Forward)
    enterBackward();
  const Origin &From = Old[Id].Origin;
  Build.setOrigin({From.Range, "shard", From.Rule});
  Serving = Id;
  if (Id.Index == 0)
    distributeBatch();
  Op O = withCurrentOperands(Old[Id]);
  llvm::SmallVector<Layout, 3> Wanted;
  for (ValueId V : O.Operands)
    Wanted.push_back(operandLayout(O, V));
  for (ValueId V : O.Results)
    B.Values[V].Layout = resultLayout(O, V);
  for (auto [V, To] : llvm::zip_equal(O.Operands, Wanted)) {
    const ValueId From = V;
    V = convert(From, To);
    for (ValueId Also : dispatchedWith(From))
      convert(Also, To);
  }
  if (O.Derivative == Derivative::Input)
    gatherAhead(Id);
  NewId.push_back(B.Ops.add(O));
  for (ValueId V : O.Results)
    if (ValueId R = convert(V, reducedLayout(O, V)); R != V)
      Resolved[V.Index] = R;
}

void Sharder::run() {
  placeInputs();
  for (size_t I = 0; I < Old.size(); ++I)
    shardOp(Old.idAt(I));
  for (Op &O : B.Ops)
    if (O.For.isValid())
      O.For = NewId[O.For.Index];
}

bool foretrace::shard(Program &P, DiagnosticEngine &) {
  for (Block &B : P.Blocks)
    Sharder(P, B).run();
  P.AtLevel = Level::SPMD;
  return true;
}
