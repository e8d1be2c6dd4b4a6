// SPDX-License-Identifier: Apache-2.0
//
// The part of `elaborate` that concerns experts: router, dispatcher, networks.

#include "ir/model/OpKinds.h"
#include "passes/Elaborator.h"

using namespace foretrace;
using namespace foretrace::ir;

/// What each expert does to its slots X [.., In]: a linear layer of its own.
ValueId Elaborator::expertLinear(BlockBuilder &B, llvm::StringRef Name,
                                 ValueId X, Dim Experts, Dim In, Dim Out,
                                 bool Bias) {
  TensorType T = B.block().Values[X].Type;
  T.Dims.back() = Out;
  ValueId W = B.param((Name + ".weight").str(), type({Experts, In, Out}));
  ValueId Y = B.compute(OpKind::MatMul, Name, {X, W}, (Name + ".out").str(), T);
  if (!Bias)
    return Y;
  ValueId Vectors = B.param((Name + ".bias").str(), type({Experts, Out}));
  return B.compute(OpKind::BiasAdd, Name, {Y, Vectors}, (Name + ".sum").str(),
                   T);
}

/// The tokens of each expert, from which the auxiliary loss is made: those of a
/// replica's micro-batch, of every sample, or of all replicas (Megatron-LM,
/// transformer/moe/router.py).
void Elaborator::countTokensPerExpert(BlockBuilder &B, const MoeSpec &M,
                                      ValueId Probs) {
  TensorType Counts{ElementType::I64, {{DimKind::Router, of(M.Experts)}}};
  auto CountApart = [&](Expr Samples) {
    Counts.Dims.insert(Counts.Dims.begin(), {DimKind::Batch, Samples});
  };
  switch (*M.AuxLoss) {
  case AuxLossKind::None:
    return;
  case AuxLossKind::Batch:
    CountApart(numberOf(P, 1));
    break;
  case AuxLossKind::Sequence:
    CountApart(of(S.Train.MicroBatch));
    break;
  case AuxLossKind::Global:
    break;
  }
  B.compute(OpKind::Reduce, "router", {Probs}, "tokens_per_expert", Counts);
}

ValueId Elaborator::routedExperts(BlockBuilder &B, const BlockSpec &Spec,
                                  ValueId X) {
  const MoeSpec &M = *Spec.Moe;
  Dim Scores{DimKind::Router, of(M.Experts)};
  ValueId Logits = linear(B, "router", X, hidden(), Scores, false);
  TensorType Scored = tokens({Scores});
  Scored.Element = elementTypeOf(*M.RouterPrecision);
  B.block().Values[Logits].Type = Scored;
  llvm::SmallVector<ValueId, 2> Routed = {Logits};
  if (*M.RouterBias)
    Routed.push_back(
        B.param("router.expert_bias", {ElementType::FP32, {Scores}}));
  ValueId Probs = B.value(ValueKind::Activation, "probs", Scored);
  llvm::SmallVector<ValueId, 2> Routing = {Probs};
  if (*M.Dispatcher == DispatcherKind::AllGather) {
    Scored.Element = ElementType::Bool;
    Routing.push_back(B.value(ValueKind::Activation, "routing_map", Scored));
  }
  B.op(OpKind::Route, "router", Routed, Routing);
  countTokensPerExpert(B, M, Probs);
  // An activation has one slot per token and choice, spread over the experts;
  // sizes assume balanced routing.
  Dim Slots{DimKind::Slots, tokenCount() * of(M.TopK)};
  Dim Spread{DimKind::Expert, numberOf(P, 1)};
  Dim Experts{DimKind::Expert, of(M.Experts)};
  const Expr Width = of(Spec.Ffn.Intermediate);
  ActivationKind Act = *Spec.Ffn.Activation;
  Dim Wide{DimKind::ExpertFfn, isGated(Act) ? Width * 2 : Width};
  Dim Inner{DimKind::ExpertFfn, Width};
  llvm::SmallVector<ValueId, 2> Sorted = dispatch(
      B, M, X, Routing, type({Spread, Slots, hidden()}), type({Spread, Slots}));
  ValueId Up = expertLinear(B, "experts.linear_fc1", Sorted[0], Experts,
                            hidden(), Wide, *Spec.Ffn.LinearBias);
  const ValueId Weights = Sorted.size() > 1 ? Sorted[1] : Probs;
  ValueId Hot =
      expertActivation(B, Spec.Ffn, Up, Weights, type({Spread, Slots, Inner}));
  ValueId Down = expertLinear(B, "experts.linear_fc2", Hot, Experts, Inner,
                              hidden(), *Spec.Ffn.LinearBias);
  llvm::SmallVector<ValueId, 2> Weighed = {Down};
  if (!expertsWeigh())
    Weighed.push_back(Weights);
  return combine(B, Spec, Weighed);
}

/// The activation of \p Up, of type \p T, weighed if experts do that. Only for
/// SwiGLU without a bias does one kernel do both; else each step saves what the
/// step before it made (Megatron-LM, transformer/moe/experts.py, bias_act_func;
/// fusions/fused_bias_swiglu.py, weighted_bias_swiglu_impl).
ValueId Elaborator::expertActivation(BlockBuilder &B, const FfnSpec &F,
                                     ValueId Up, ValueId Weights,
                                     TensorType T) {
  constexpr llvm::StringLiteral Name = "experts.activation";
  auto Made = [&](OpKind Kind, llvm::StringRef By, llvm::ArrayRef<ValueId> From,
                  llvm::StringRef Suffix) {
    return B.compute(Kind, By, From, (Name + "." + Suffix).str(), T);
  };
  if (!expertsWeigh())
    return Made(OpKind::Activation, Name, {Up}, "out");
  if (*F.Activation == ActivationKind::SwiGLU && !*F.LinearBias)
    return Made(OpKind::Activation, Name, {Up, Weights}, "out");
  if (!isGated(*F.Activation)) {
    ValueId Hot = Made(OpKind::Activation, Name, {Up}, "unweighted");
    return Made(OpKind::Mul, Name, {Hot, Weights}, "out");
  }
  ValueId Gate = B.value(ValueKind::Activation, (Name + ".gate").str(), T);
  ValueId Linear = B.value(ValueKind::Activation, (Name + ".linear").str(), T);
  B.op(OpKind::Split, Name, {Up}, {Gate, Linear});
  Gate = Made(OpKind::Activation, Name, {Gate}, "gate.act");
  if (*S.Parallel.Megatron >= MegatronVersion::V0_15)
    Linear = Made(OpKind::Activation, "experts.glu_linear_offset", {Linear},
                  "linear.offset");
  ValueId Hot = Made(OpKind::Mul, Name, {Gate, Linear}, "unweighted");
  return Made(OpKind::Mul, Name, {Hot, Weights}, "out");
}

/// Whether experts weigh their slots. Before core 0.13 the dispatcher weighs
/// their results (Megatron-LM, transformer/moe/token_dispatcher.py,
/// token_unpermutation).
bool Elaborator::expertsWeigh() const {
  return *S.Parallel.Megatron >= MegatronVersion::V0_13;
}

/// Whether probabilities come to the experts with the tokens.
bool Elaborator::sendsProbabilities(const MoeSpec &M) const {
  return *M.Dispatcher == DispatcherKind::AllGather || expertsWeigh();
}

/// Values like \p V, of tokens as the ranks of experts count them.
ValueId Elaborator::asSlots(BlockBuilder &B, ValueId V) {
  const Value Of = B.block().Values[V];
  const llvm::ArrayRef<Dim> Dims = Of.Type.Dims;
  TensorType T{Of.Type.Element, {{DimKind::Slots, tokenCount()}, Dims.back()}};
  return B.compute(OpKind::View, "token_dispatcher", {V}, Of.Name + ".view", T);
}

/// The slots of \p Tokens and, if they are sent, their \p Weights. \p Routing
/// has probabilities and, for tokens that go to all experts, the map of
/// choices.
llvm::SmallVector<ValueId, 2>
Elaborator::dispatch(BlockBuilder &B, const MoeSpec &M, ValueId X,
                     llvm::ArrayRef<ValueId> Routing, TensorType Tokens,
                     TensorType Weights) {
  Weights.Element = elementTypeOf(*M.RouterPrecision);
  llvm::SmallVector<ValueId, 2> Made = {
      B.value(ValueKind::Activation, "dispatched", Tokens)};
  if (sendsProbabilities(M))
    Made.push_back(B.value(ValueKind::Activation, "dispatched_probs", Weights));
  llvm::SmallVector<ValueId, 3> From = {X};
  From.append(Routing.begin(), Routing.end());
  if (*M.Dispatcher == DispatcherKind::AllToAll) {
    B.op(OpKind::Permute, "token_dispatcher", From, Made);
    return Made;
  }
  for (ValueId &V : From)
    V = asSlots(B, V);
  B.op(OpKind::Pick, "token_dispatcher", From, Made);
  return Made;
}

/// Brings results of experts back to where the tokens came from. \p Out has the
/// results, and weights unless experts have weighed them. The dispatcher of
/// gathered tokens has biases as rows of their own, and weighs these, too
/// (Megatron-LM up to core 0.12, transformer/moe/token_dispatcher.py,
/// unpermuted_local_bias).
ValueId Elaborator::combine(BlockBuilder &B, const BlockSpec &Spec,
                            llvm::ArrayRef<ValueId> Out) {
  if (*Spec.Moe->Dispatcher == DispatcherKind::AllToAll)
    return B.compute(OpKind::Unpermute, "token_dispatcher", Out, "combined",
                     residual());
  TensorType T = residual();
  T.Dims = {{DimKind::Slots, tokenCount()}, T.Dims.back()};
  llvm::SmallVector<ValueId, 2> Made = {
      B.value(ValueKind::Activation, "combined.view", T)};
  if (Out.size() > 1 && *Spec.Ffn.LinearBias)
    Made.push_back(B.value(ValueKind::Activation, "bias_rows",
                           B.block().Values[Out[0]].Type));
  B.op(OpKind::Unpick, "token_dispatcher", Out, Made);
  return B.compute(OpKind::View, "token_dispatcher", {Made[0]}, "combined",
                   residual());
}

ValueId Elaborator::experts(BlockBuilder &B, const BlockSpec &Spec, ValueId X) {
  const MoeSpec &M = *Spec.Moe;
  ValueId Y = routedExperts(B, Spec, X);
  if (*M.SharedIntermediate == 0)
    return Y;
  const Dim Inner{*M.SharedTp ? DimKind::Ffn : DimKind::Whole,
                  of(M.SharedIntermediate)};
  ValueId Shared = mlp(B, "shared_experts.", Spec.Ffn, Inner, X);
  if (*M.SharedGate) {
    ValueId Gate = linear(B, "shared_experts.gate", X, hidden(),
                          {DimKind::Router, numberOf(P, 1)}, false);
    Shared = B.compute(OpKind::Mul, "shared_experts.gate", {Shared, Gate},
                       "shared_experts.gated", residual());
  }
  return B.compute(OpKind::Add, "shared_experts", {Y, Shared},
                   "shared_experts.out", residual());
}
