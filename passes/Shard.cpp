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
// Where Megatron-LM does it differently, the layout rules and traits of
// ir/model/Ops.def say which ops it does so with.
//
// Tensor, sequence, context, expert and expert-tensor parallelism and ZeRO 2
// and 3 all come out of these. Rule 3 is in Reshard.cpp.

#include "analysis/Parameters.h"
#include "ir/model/Measure.h"
#include "ir/model/OpKinds.h"
#include "passes/HomeLayout.h"
#include "passes/Passes.h"
#include "passes/Sharder.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

static AxisList axesOf(const TensorType &T) {
  return T.isOfExperts()
             ? AxisList{Axis::Etp, Axis::Ep, Axis::Edp, Axis::DpReplicate}
             : AxisList{Axis::Tp, Axis::Cp, Axis::Dp, Axis::DpReplicate};
}

void Sharder::placeInputs() {
  for (const auto &[Index, V] : llvm::enumerate(B.Values)) {
    if (isBuffer(Old, B.Values.idAt(Index)))
      V.Layout = Layout();
    else if (V.Kind == ValueKind::Param)
      V.Layout = paramLayout(P, V);
    else if (V.Kind == ValueKind::Input)
      V.Layout = dataLayout(P, B, V);
  }
  for (const Signature::List *Arriving :
       {&B.Signature.Inputs, &B.Signature.OutputGradients})
    for (ValueId V : *Arriving)
      B.Values[V].Layout = homeLayout(P, B.Values[V].Type);
}

/// Takes samples of the data loader home before anything runs.
void Sharder::distributeBatch() {
  for (size_t I = 0, E = B.Values.size(); I < E; ++I)
    if (const ValueId V = B.Values.idAt(I);
        B.Values[V].Kind == ValueKind::Input)
      if (ValueId R = convert(V, homeLayout(P, B.Values[V].Type)); R != V)
        Resolved[V.Index] = R;
}

/// Rule 1. Parameters don't move (but for ZeRO 3 shares), activations do.
std::optional<DimKind> Sharder::workingDim(const Op &O, Axis A) const {
  // Tokens are converted for products where their experts are.
  const bool IsAlongExperts =
      getInfo(O.Kind).Layouts == LayoutRule::AlongExperts ||
      (O.Kind == OpKind::Cast && !dispatchedWith(O.Operands.front()).empty());
  if (IsAlongExperts && A == Axis::Ep)
    return DimKind::Expert;
  if (IsAlongExperts && A == Axis::Etp)
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

/// Returns whether \p O works on some heads of all tokens, rather than on all
/// heads of some tokens.
bool Sharder::exchangesHeads(const Op &O) const {
  return hasTrait(O.Kind, Attends) &&
         *P.Spec.Parallel.CpComm == CpCommKind::AllToAll;
}

/// Returns whether \p A splits the last of \p Rank dimensions.
static bool isLastSplit(const Layout &L, Axis A, size_t Rank) {
  return L.isSplit(A) && L.splitDim(A) + 1 == Rank;
}

/// \p L with the axes that split the last of \p Rank dimensions replicated.
static Layout withoutLast(Layout L, size_t Rank) {
  for (Axis A : allAxes())
    if (isLastSplit(L, A, Rank))
      L.setWhole(A);
  return L;
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

/// The home layout of what the forward op of an exchange makes.
Layout Sharder::exchangedLayout(const Op &O) const {
  const ValueId Made = O.Derivative == Derivative::None
                           ? O.Results.front()
                           : Old[O.For].Results.front();
  // Partial sums of unsplit results remain partial sums.
  Layout L = homeLayout(P, B.Values[Made].Type);
  const Layout From = layoutOf(current(O.Operands.front()));
  for (Axis A : allAxes())
    if (From.isPartial(A) && L.isWhole(A))
      L.setPartial(A);
  return L;
}

/// The layout \p O needs its operand \p V in.
Layout Sharder::operandLayout(const Op &O, ValueId V) const {
  const TensorType &T = B.Values[V].Type;
  switch (getInfo(O.Kind).Layouts) {
  case LayoutRule::AsOperand:
    return layoutOf(V);
  case LayoutRule::Recount:
    return T.isOfExperts() && T.indexOf(DimKind::Gathered) < 0
               ? homeLayout(P, T)
               : layoutOf(V);
  case LayoutRule::AtHome:
    return homeLayout(P, T);
  case LayoutRule::FromWhole:
    return O.Derivative == Derivative::None
               ? withoutLast(layoutOf(V), T.Dims.size())
               : homeLayout(P, T);
  case LayoutRule::ByResult:
    return exchangedLayout(O);
  case LayoutRule::AlongDim:
  case LayoutRule::AlongExperts:
    break;
  }
  Layout L = layoutOf(V);
  const bool IsParam = B.Values[V].Kind == ValueKind::Param;
  for (Axis A : axesOf(T)) {
    if (P.Mesh[A] == 1 || isTerm(O, V, A))
      continue;
    // A rank that has all of a parameter reads what it needs of it.
    if (IsParam && !L.isSplit(A))
      L.setWhole(A);
    else
      L = alongDim(L, A, T, workingDim(O, A), /*IsResult=*/false);
  }
  return L;
}

/// The layout of the gradient \p V of what ranks take their parts of: each has
/// a term, whether the whole was gathered or is on each rank.
Layout Sharder::sumOfTaken(const Op &O, ValueId V) const {
  const size_t Rank = B.Values[V].Type.Dims.size();
  const Layout Of = layoutOf(current(B.Values[V].GradientOf));
  Layout L = Of;
  for (Axis A : allAxes())
    if (isLastSplit(Of, A, Rank) || llvm::any_of(O.Operands, [&](ValueId Of) {
          return isLastSplit(layoutOf(Of), A, Rank);
        }))
      L.setPartial(A);
  return L;
}

/// The layout of tokens as other ranks count them. Terms of ranks that share
/// experts are those of tp, if these are the same ranks.
Layout Sharder::recountedLayout(const Op &O, ValueId V) const {
  const TensorType &T = B.Values[V].Type;
  if (T.isOfExperts())
    return homeLayout(P, T);
  if (B.Values[V].Kind == ValueKind::Gradient)
    return layoutOf(current(B.Values[V].GradientOf));
  Layout L = homeLayout(P, T);
  const Layout From = layoutOf(O.Operands.front());
  if (From.isPartial(Axis::Ep) || From.isPartial(Axis::Etp))
    L.setPartial(Axis::Tp);
  return L;
}

/// The layout in which \p O leaves its result \p V.
Layout Sharder::resultLayout(const Op &O, ValueId V) const {
  const TensorType &T = B.Values[V].Type;
  switch (getInfo(O.Kind).Layouts) {
  case LayoutRule::AsOperand:
    return layoutOf(O.Operands[0]);
  case LayoutRule::AtHome:
    return homeLayout(P, T);
  case LayoutRule::FromWhole:
    return O.Derivative == Derivative::None ? homeLayout(P, T)
                                            : sumOfTaken(O, V);
  case LayoutRule::ByResult:
    return exchangedLayout(O);
  case LayoutRule::Recount:
    return recountedLayout(O, V);
  case LayoutRule::AlongDim:
  case LayoutRule::AlongExperts:
    break;
  }
  Layout L;
  for (Axis A : axesOf(T))
    if (P.Mesh[A] > 1)
      L = alongDim(L, A, T, workingDim(O, A), /*IsResult=*/true);
  // The gradient of a factor is a term if the other factor is one.
  const ValueId Of = B.Values[V].GradientOf;
  for (Axis A : axesOf(T))
    if (llvm::any_of(O.Operands, [&](ValueId In) {
          return isTerm(O, In, A) && !(Of.isValid() && In == current(Of));
        }))
      L.setPartial(A);
  // If ranks have a parameter whole, a part of its gradient is a term of a sum.
  if (isParamGradient(V))
    for (Axis A : allAxes())
      if (L.isSplit(A) && !B.Values[Of].Layout.isSplit(A))
        L.setPartial(A);
  // Values that are whole on each rank have such gradients, too.
  const bool IsWhole =
      !isSequenceParallel() ||
      (Of.isValid() && layoutOf(current(Of)).isWhole(Axis::Tp));
  if (hasTrait(O.Kind, LeavesTerms) && IsWhole && L.isPartial(Axis::Tp))
    L.setWhole(Axis::Tp);
  return L;
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
  if (*P.Spec.Parallel.Zero >= 2 &&
      isStored(Param, tiedHeadOf(P.Spec.Parallel)))
    for (Axis A : shareAxes(P, Param.Type))
      L.setFlat(A);
  return L;
}

/// The layout of the sum of the terms \p V, split as in \p To.
Layout Sharder::summed(ValueId V, const Layout &To) const {
  Layout L = layoutOf(V);
  for (Axis A : allAxes()) {
    if (!L.isPartial(A))
      continue;
    if (To.isSplit(A))
      L.setSplit(A, To.splitDim(A));
    else
      L.setWhole(A);
  }
  return L;
}

/// Rule 2: the layout the result \p V of \p O shall have, reductions
/// included. Gradients of all that a dispatcher sent go back together, when
/// it gets them.
Layout Sharder::reducedLayout(const Op &O, ValueId V) const {
  const Value &Val = B.Values[V];
  const bool IsTerm =
      llvm::any_of(allAxes(), [&](Axis A) { return Val.Layout.isPartial(A); });
  if (IsTerm && llvm::any_of(Old, [&](const Op &User) {
        return (isLinear(User.Kind) || Val.Type.indexOf(DimKind::Gathered) >= 0) && llvm::is_contained(User.Operands, V) &&
               (User.Kind != OpKind::Exchange ||
                (User.For.isValid() && gathers(Old[User.For])));
      }))
    return Val.Layout; // its user makes terms of terms
  if (isParamGradient(V))
    return gradientLayout(Val);
  if (isSentLater(V))
    return Val.Layout;
  if (Val.Kind == ValueKind::Gradient) {
    const ValueId Of = current(Val.GradientOf);
    return dispatchedWith(Of).empty() ? layoutOf(Of) : summed(V, layoutOf(Of));
  }
  Layout Home = homeLayout(P, Val.Type);
  if (llvm::is_contained(B.Signature.Outputs, V))
    return Home;
  if (exchangesHeads(O))
    return Home;
  if (hasTrait(O.Kind, SumsWhole) && isSummand(V))
    Home.setWhole(Axis::Tp);
  return summed(V, Home);
}

void Sharder::enterBackward() {
  CurrentPhase = Phase::Backward;
  llvm::erase_if(Conversions, [](const Conversion &C) { return !C.IsKept; });
  // The gradient of the block's output comes from outside.
  for (Value &V : B.Values)
    if (V.Kind == ValueKind::Gradient)
      V.Layout = layoutOf(current(V.GradientOf));
}

/// Returns \p O on the values after their reductions, except those that its own
/// forward op made, which are used as they are.
Op Sharder::withCurrentOperands(Op O) {
  for (ValueId &V : O.Operands)
    if (!O.For.isValid() || !llvm::is_contained(Old[O.For].Results, V))
      V = unsliced(current(V));
  return O;
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
  for (size_t N = 0, E = Wanted.size(); N < E; ++N) {
    const size_t I = hasTrait(O.Kind, LastFirst) ? E - 1 - N : N;
    const ValueId From = O.Operands[I];
    // All go to the ranks of their experts before any is gathered there.
    const llvm::SmallVector<ValueId, 2> Together = dispatchedWith(From);
    for (ValueId V : Together)
      exchange(V, Wanted[I]);
    Serving = isReturned(From) ? makerOf(From) : Id;
    O.Operands[I] = convert(From, Wanted[I]);
    for (ValueId Also : Together)
      convert(Also, Wanted[I]);
  }
  Serving = Id;
  if (O.Derivative == Derivative::Input)
    gatherAhead(Id);
  NewId.push_back(B.Ops.add(O));
  for (ValueId V : O.Results)
    if (ValueId R = reduced(O, V); R != V)
      Resolved[V.Index] = R;
  if (O.Kind == OpKind::Permute && O.Derivative == Derivative::None)
    dispatch(O);
}

void Sharder::run() {
  B.Ops.reserve(2 * Old.size());
  B.Values.reserve(B.Values.size() + Old.size());
  placeInputs();
  for (size_t I = 0; I < Old.size(); ++I)
    shardOp(Old.idAt(I));
  gatherUnread();
  for (Op &O : B.Ops)
    if (O.For.isValid())
      O.For = NewId[O.For.Index];
  // Outputs of the block are results of its reductions.
  for (Signature::List *Leaving :
       {&B.Signature.Outputs, &B.Signature.InputGradients})
    for (ValueId &V : *Leaving)
      V = current(V);
}

bool foretrace::shard(Program &P, DiagnosticEngine &) {
  for (Block &B : P.Blocks)
    Sharder(P, B).run();
  for (Block &B : P.Blocks)
    measure(P, B);
  return true;
}
