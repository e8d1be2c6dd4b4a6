// SPDX-License-Identifier: Apache-2.0
//
// Rule 3 of `shard`: from one layout to another by the cheapest sequence of
// collectives: reductions first, gathers last; for gradients of parameters as
// the framework does it.

#include "analysis/Parameters.h"
#include "ir/model/OpKinds.h"
#include "ir/model/SharedWeight.h"
#include "ir/model/Shares.h"
#include "ir/ranks/BlockTasks.h"
#include "passes/Sharder.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Returns whether parts along \p K pass all ranks of \p Axes one by one,
/// rather than being put together (Liu et al., arXiv 2310.01889).
bool Sharder::goesRound(llvm::ArrayRef<Axis> Axes, DimKind K) const {
  return Axes == llvm::ArrayRef(Axis::Cp) && K == DimKind::KvSeq &&
         *P.Spec.Parallel.CpComm == CpCommKind::PointToPoint;
}

/// Adds a collective. It has the name of the value that it moves, and refers to
/// the op it is made for: backends find their rows or calls by that op.
ValueId Sharder::step(ValueId V, OpKind Kind, llvm::ArrayRef<Axis> Axes,
                      const Layout &To) {
  ValueId R = Build.derived(V, getMnemonic(Kind));
  B.Values[R].Layout = To;
  Op &O = B.Ops[Build.op(Kind, B.Values[V].Name, {V}, {R})];
  O.Phase = CurrentPhase;
  O.For = Serving;
  if (isCollective(Kind))
    O.Group.Axes.append(Axes.begin(), Axes.end());
  return R;
}

/// Copies a value that one rank has to all.
ValueId Sharder::broadcast(ValueId V) {
  for (Axis A : allAxes())
    if (Layout Now = layoutOf(V); Now.isSingle(A)) {
      Now.setWhole(A);
      V = step(V, OpKind::Broadcast, {A}, Now);
    }
  return V;
}

/// Axes along which \p Now is a sum that \p To has split along the dimension
/// \p Dim.
static AxisList scatteredAlong(const Layout &Now, const Layout &To,
                               unsigned Dim) {
  AxisList Along;
  for (Axis A : allAxes())
    if (Now.isPartial(A) && To.isSplit(A) && To.splitDim(A) == Dim)
      Along.push_back(A);
  return Along;
}

/// Sums that end up split are scattered first, so that sums over other axes are
/// smaller; axes that scatter along one dimension share a message. Shares of
/// ZeRO come last: they split a rank's remaining part, whatever its dimensions.
ValueId Sharder::reduce(ValueId V, const Layout &To) {
  AxisList Summed, Shared;
  for (Axis A : allAxes()) {
    Layout Now = layoutOf(V);
    if (!Now.isPartial(A) || To.isPartial(A))
      continue;
    if (!To.isSplit(A)) {
      (To.isFlat(A) ? Shared : Summed).push_back(A);
      continue;
    }
    const unsigned Dim = To.splitDim(A);
    const AxisList Along = scatteredAlong(Now, To, Dim);
    for (Axis Also : Along)
      Now.setSplit(Also, Dim);
    const DimKind K = B.Values[V].Type.Dims[Dim].Kind;
    V = step(V, goesRound(Along, K) ? OpKind::Ring : OpKind::ReduceScatter,
             Along, Now);
  }
  Layout Now = layoutOf(V);
  for (Axis A : Summed)
    Now.setWhole(A);
  if (!Summed.empty())
    V = step(V, OpKind::AllReduce, Summed, Now);
  for (Axis A : Shared)
    Now.setFlat(A);
  return Shared.empty() ? V : step(V, OpKind::ReduceScatter, Shared, Now);
}

/// Innermost axis last, so that each exchange works on the smaller tensor.
ValueId Sharder::exchange(ValueId From, const Layout &To) {
  Layout Exchanged = layoutOf(From);
  AxisList Axes;
  for (Axis A : allAxes())
    if (Exchanged.isSplit(A) && To.isSplit(A) &&
        Exchanged.splitDim(A) != To.splitDim(A)) {
      Exchanged.setSplit(A, To.splitDim(A));
      Axes.push_back(A);
    }
  if (const auto Known = known(From, Exchanged))
    return *Known;
  ValueId V = From;
  for (Axis A : Axes) {
    Layout Now = layoutOf(V);
    Now.setSplit(A, To.splitDim(A));
    V = step(V, OpKind::AllToAll, {A}, Now);
  }
  if (V != From)
    Conversions.push_back({From, Exchanged, V, Serving, isKept(From, To)});
  return V;
}

/// Takes a part of a whole value, which costs nothing.
ValueId Sharder::slice(ValueId V, const Layout &To) {
  Layout Sliced = layoutOf(V);
  for (Axis A : allAxes())
    if (Sliced.isWhole(A) && To.isSplit(A))
      Sliced.setSplit(A, To.splitDim(A));
  return Sliced == layoutOf(V) ? V : step(V, OpKind::Slice, {}, Sliced);
}

/// Dimension by dimension, all axes of one in a single message; shares of ZeRO
/// apart, since they are of no dimension.
ValueId Sharder::gather(ValueId V, const Layout &To) {
  AxisList Shared;
  for (Axis A : allAxes()) {
    Layout Now = layoutOf(V);
    if (!To.isWhole(A) || Now.isWhole(A))
      continue;
    if (Now.isFlat(A)) {
      Shared.push_back(A);
      continue;
    }
    const unsigned Dim = Now.splitDim(A);
    AxisList Along;
    for (Axis Also : allAxes())
      if (Now.isSplit(Also) && To.isWhole(Also) && Now.splitDim(Also) == Dim) {
        Along.push_back(Also);
        Now.setWhole(Also);
      }
    const DimKind K = B.Values[V].Type.Dims[Dim].Kind;
    V = step(V, goesRound(Along, K) ? OpKind::Ring : OpKind::AllGather, Along,
             Now);
  }
  Layout Now = layoutOf(V);
  for (Axis A : Shared)
    Now.setWhole(A);
  if (Shared.empty())
    return V;
  Value &Whole = B.Values[V = step(V, OpKind::AllGather, Shared, Now)];
  Whole.Type.Element = Whole.Gathered.value_or(Whole.Type.Element);
  Whole.Gathered.reset();
  return V;
}

/// Returns whether the conversion of \p From is saved from forward to backward.
/// Sequence gathers and ZeRO 3 shares are recomputed (Korthikanti et al., arXiv
/// 2205.05198, section 4.2.2); tokens that the expert dispatcher received are
/// saved. The weights of recomputed ops stay gathered from there on, and those
/// outside the layers, which are the root group of PyTorch's FSDP, throughout
/// (torch/distributed/fsdp/_fully_shard/_fsdp_state.py, _root_pre_forward), as
/// all are with ZeRO 2 (reshard_after_forward = False; SHARD_GRAD_OP).
bool Sharder::isKept(ValueId From, const Layout &To) const {
  const Value &V = B.Values[From];
  for (Axis A : allAxes()) {
    if (!To.isWhole(A))
      continue;
    if (V.Layout.isFlat(A))
      return (Again.findPart(Old[Serving]) && !*P.Spec.Parallel.ZeroRefetch) ||
             (isOfTorch(P.Spec.Parallel) &&
              (isOutsideLayers(P, B) || *P.Spec.Parallel.Zero == 2));
    if (!V.Layout.isSplit(A))
      continue;
    const DimKind K = V.Type.Dims[V.Layout.splitDim(A)].Kind;
    if (K == DimKind::Seq || K == DimKind::KvSeq)
      return false;
  }
  return true;
}

/// Returns whether each product that reads \p V gathers it for itself: a
/// gradient whose scales are those of some of a row for the gradient of the
/// input, and of some of a column for the gradient of the weight. Neither
/// follows from the other, as it does with a scale per tensor (Transformer
/// Engine, pytorch/module/linear.py, _linear_backward: set_usage(rowwise=True,
/// columnwise=True); distributed.py, _start_all_gather_fp8_blockwise,
/// _all_gather_mxfp8, _all_gather_nvfp4). Inputs are gathered in one of both
/// directions in either pass, tokens of experts by their dispatcher.
bool Sharder::isGatheredForEach(ValueId V) const {
  const Value &Of = B.Values[V];
  return Of.Kind == ValueKind::Gradient &&
         getInfo(Of.Type.Element).Block != 0 && !Of.Type.isOfExperts();
}

/// One message serves all that need \p From in the layout \p To.
std::optional<ValueId> Sharder::known(ValueId From, const Layout &To) const {
  if (layoutOf(From) == To)
    return From;
  for (const Conversion &C : Conversions)
    if (C.From == From && C.To == To &&
        (C.For == Serving || !isGatheredForEach(From)))
      return C.Result;
  return std::nullopt;
}

ValueId Sharder::convert(ValueId From, const Layout &To) {
  if (const auto Known = known(From, To))
    return *Known;
  const bool IsKept = isKept(From, To);
  const ValueId Result =
      gather(slice(exchange(reduce(broadcast(From), To), To), To), To);
  Conversions.push_back({From, To, Result, Serving, IsKept});
  return Result;
}

/// The result \p V of \p O after its reductions. DeepSpeed sums whole gradients
/// with ZeRO 2, of which a rank keeps its share (runtime/zero/stage_1_and_2.py,
/// allreduce_and_scatter). PyTorch sums shares over the other groups of
/// replicas in each micro-batch (torch/distributed/fsdp/_fully_shard,
/// _fsdp_collectives.py, foreach_reduce).
ValueId Sharder::reduced(const Op &O, ValueId V) {
  const Layout To = reducedLayout(O, V);
  if (!isParamGradient(V))
    return convert(V, To);
  const ParallelSpec &Par = P.Spec.Parallel;
  if (isDeepSpeed(Par) && *Par.Zero == 2) {
    Layout Whole = To;
    for (Axis A : allAxes())
      if (Whole.isFlat(A))
        Whole.setWhole(A);
    if (const ValueId Sum = convert(V, Whole); !(Whole == To))
      return step(Sum, OpKind::Slice, {}, To);
  }
  V = convert(V, To);
  if (isOfTorch(Par) && *Par.Zero >= 2 &&
      layoutOf(V).isPartial(Axis::DpReplicate)) {
    Layout Summed = layoutOf(V);
    Summed.setWhole(Axis::DpReplicate);
    V = convert(V, Summed);
  }
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

/// The weight gradient of a column-parallel layer gathers its input before the
/// input gradient is computed, so that the two overlap (Megatron-LM,
/// core/tensor_parallel/layers.py).
void Sharder::gatherAhead(OpId InputGrad) {
  const auto IsOf = [&](OpId Id, Derivative D) {
    return Old.contains(Id) && Old[Id].Derivative == D &&
           Old[Id].For == Old[InputGrad].For;
  };
  OpId Next{InputGrad.Index + 1};
  if (IsOf(Next, Derivative::Input)) // the sum with other gradients
    ++Next.Index;
  if (!IsOf(Next, Derivative::Param))
    return;
  Serving = Next;
  const Op WeightGrad = withCurrentOperands(Old[Next]);
  for (ValueId V : WeightGrad.Operands)
    convert(V, operandLayout(WeightGrad, V));
  Serving = InputGrad;
}

/// Returns the results of the dispatcher that made \p V, if one did: the tokens
/// of slots and their probabilities go out together, and their dimensions
/// correspond.
llvm::SmallVector<ValueId, 2> Sharder::dispatchedWith(ValueId V) const {
  for (const Op &O : B.Ops)
    if (O.Kind == OpKind::Permute && O.Derivative == Derivative::None &&
        llvm::is_contained(O.Results, V))
      return O.Results;
  return {};
}

/// Sends tokens to the ranks of their experts for the first op that reads them,
/// whatever comes before it.
void Sharder::dispatch(const Op &Permute) {
  const auto Reader = llvm::find_if(Old, [&](const Op &O) {
    return llvm::any_of(Permute.Results, [&](ValueId V) {
      return llvm::is_contained(O.Operands, V);
    });
  });
  if (Reader == Old.end())
    return;
  Build.setOrigin({Reader->Origin.Range, "shard", Reader->Origin.Rule});
  Serving = Old.idAt(static_cast<size_t>(Reader - Old.begin()));
  for (ValueId V : Permute.Results) {
    Layout To = layoutOf(V);
    const int Expert = B.Values[V].Type.indexOf(DimKind::Expert);
    if (To.isSplit(Axis::Ep))
      To.setSplit(Axis::Ep, static_cast<unsigned>(Expert));
    exchange(V, To);
  }
}

/// Returns whether \p V is a gradient that returns to what a dispatcher sent.
bool Sharder::isReturned(ValueId V) const {
  const ValueId Of = B.Values[V].GradientOf;
  return Of.isValid() && !dispatchedWith(Of).empty();
}

/// The old op that made \p V, perhaps by a reduction.
OpId Sharder::makerOf(ValueId V) const {
  for (const Conversion &C : Conversions)
    if (C.Result == V)
      return C.For;
  for (size_t N = 0; N < Old.size(); ++N)
    if (llvm::is_contained(Old[Old.idAt(N)].Results, V))
      return Old.idAt(N);
  return Serving;
}

/// Returns whether \p V is the gradient of received tokens that is converted or
/// added to another one before it is sent back.
bool Sharder::isSentLater(ValueId V) const {
  return isReturned(V) && llvm::any_of(Old, [V](const Op &O) {
           return (O.Kind == OpKind::Cast || O.Kind == OpKind::Add) &&
                  llvm::is_contained(O.Operands, V);
         });
}

/// Returns whether an exchange gathers split parts; it scatters the gradient.
bool Sharder::gathers(const Op &Exchange) const {
  const Layout &From = layoutOf(current(Exchange.Operands.front())),
               &To = layoutOf(Exchange.Results.front());
  return llvm::any_of(allAxes(),
                      [&](Axis A) { return From.isSplit(A) && To.isWhole(A); });
}

/// Units of FSDP are gathered again with all weights, also those that only the
/// forward pass reads (megatron_fsdp.py, _pre_backward_param_unshard;
/// torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py, pre_backward).
void Sharder::gatherUnread() {
  const bool HasUnits = gathersByUnit(P) && !P.Spec.Parallel.DpFramework.is(
                                                DpFrameworkKind::DeepSpeed);
  if (CurrentPhase == Phase::Forward || !HasUnits)
    return;
  for (unsigned I = 0, E = static_cast<unsigned>(B.Values.size()); I < E; ++I) {
    Layout To = layoutOf(ValueId(I));
    const AxisList Shared = sharedAxes(To);
    for (const Axis A : Shared)
      To.setWhole(A);
    if (B.Values[ValueId(I)].Kind == ValueKind::Param && !Shared.empty())
      convert(ValueId(I), To);
  }
}
