// SPDX-License-Identifier: Apache-2.0
//
// types: stores parameters, saves activations and sends tokens in the types
// that the job sets for them, by conversions (`cast`) around products and the
// dispatch of tokens:
//
//   * A product in compute_precision reads a converted operand, and its
//     backward products read a converted gradient. Transformer Engine saves the
//     converted operand, one for each linear layer (pytorch/module/linear.py,
//     _Linear.forward); torchao saves the operand (float8/float8_linear.py,
//     matmul_with_hp_or_float8_args). Where the operand is recomputed, saved
//     for other ops anyway, as by routers, or made by attention, with or
//     without an output gate, it is converted again (Megatron-LM,
//     extensions/transformer_engine.py, set_save_original_input, and its
//     callers; with delayed scaling only where it is recomputed).
//   * The input of SwiGLU is converted before it is saved (Megatron-LM,
//     fusions/fused_bias_swiglu.py, fp8_input_store).
//   * Tokens and gradients of results of experts go out in dispatch_precision,
//     results and gradients of tokens come back in combine_precision
//     (DeepSeek-V3, arXiv 2412.19437, section 3.3.2).
//
// `shard` gathers and exchanges what it finds, so that messages have these
// types too.

#include "ir/model/Measure.h"
#include "ir/model/OpKinds.h"
#include "lang/diagnostics/Lang.h"
#include "passes/BlockBuilder.h"
#include "passes/Passes.h"
#include "passes/Recomputation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// Types of a job, in one block.
struct BlockTypes {
  BlockTypes(const Spec &S, const Block &B);

  /// Returns whether all values have the type of the job.
  bool arePlain() const {
    return llvm::all_of(
        llvm::ArrayRef{Compute, Activation, Weight, Gather, Dispatch, Combine},
        [this](ElementType T) { return T == Plain; });
  }

  ElementType Plain, Compute, Activation, Weight, Gather, Dispatch, Combine;
  /// Whether products save their operands as they were before conversion.
  bool SavesOriginal = false;
};

class TypeAssigner {
public:
  TypeAssigner(const Program &P, Block &B, const BlockTypes &Types)
      : B(B), Types(Types), Again(P, B), Build(B, "types"),
        Old(std::move(B.Ops)) {
    B.Ops = {};
  }

  void run();

private:
  /// Operands of the backward products of a forward one.
  struct Product {
    ValueId Input;    ///< as it was saved
    ValueId Gradient; ///< converted, once it is
  };

  void storeParams();
  ValueId convert(ValueId V, ElementType To, const Op &For);
  void convertProduct(OpId Id, Op &O);
  void convertBackward(Op &O);
  void convertActivation(Op &O);
  void convertTokens(Op &O);
  void passType(Op &O);
  bool isRecomputed(ValueId V) const;
  bool isSavedAnyway(ValueId V) const;
  bool isFromAttention(ValueId V) const;
  const Op *maker(ValueId V) const;

  Block &B;
  const BlockTypes Types;
  const Recomputation Again;
  BlockBuilder Build;
  Table<OpId, Op> Old;
  llvm::DenseMap<unsigned, OpId> NewId;       ///< by old op
  llvm::DenseMap<unsigned, Product> Products; ///< by old forward op
  llvm::DenseMap<unsigned, ValueId> Stored;   ///< inputs of activations
};

} // namespace

BlockTypes::BlockTypes(const Spec &S, const Block &B)
    : Plain(elementTypeOf(*S.Train.Precision)),
      Compute(elementTypeOf(*S.Train.ComputePrecision)),
      Activation(elementTypeOf(*S.Train.ActivationPrecision)),
      Weight(elementTypeOf(*S.Train.WeightPrecision)),
      Gather(elementTypeOf(*S.Train.GatherPrecision)),
      Dispatch(elementTypeOf(*S.Train.DispatchPrecision)),
      Combine(elementTypeOf(*S.Train.CombinePrecision)) {
  if (const BlockSpec *Spec = S.Model.findBlock(B.Name))
    Compute = elementTypeOf(S.computeTypeOf(*Spec));
  const Located<TypeKind> &Stated = S.Train.SavedPrecision;
  SavesOriginal = Stated.isStated() && elementTypeOf(*Stated) == Plain;
  // Products of these layers read no weights in the scaled type of others.
  // Those of an engine may have operands in another type than weights.
  for (ElementType *Of : {&Weight, &Gather})
    if (isScaled(*Of) && *Of != Compute &&
        !(S.Serve && Compute == elementTypeOf(*S.Train.ComputePrecision)))
      *Of = Plain;
}

/// Stores weights of products in a scaled type, and all parameters of the job's
/// type in another one.
void TypeAssigner::storeParams() {
  llvm::DenseSet<unsigned> OfProducts;
  for (const Op &O : Old)
    if (O.IsLowPrecision && O.Kind == OpKind::MatMul &&
        O.Phase == Phase::Forward)
      OfProducts.insert(O.Operands[1].Index);
  for (const auto &[Index, V] : llvm::enumerate(B.Values)) {
    if (V.Kind != ValueKind::Param || V.Type.Element != Types.Plain)
      continue;
    const bool TakesScales = OfProducts.contains(static_cast<unsigned>(Index));
    if (!isScaled(Types.Weight) || TakesScales)
      V.Type.Element = Types.Weight;
    const ElementType Gathered =
        isScaled(Types.Gather) && !TakesScales ? Types.Plain : Types.Gather;
    if (Gathered != V.Type.Element)
      V.Gathered = Gathered;
  }
}

/// Returns the forward op that makes \p V, or null.
const Op *TypeAssigner::maker(ValueId V) const {
  const auto Maker = llvm::find_if(Old, [V](const Op &O) {
    return O.Phase == Phase::Forward && llvm::is_contained(O.Results, V);
  });
  return Maker == Old.end() ? nullptr : &*Maker;
}

/// Returns whether \p V is discarded after the forward pass and recomputed.
bool TypeAssigner::isRecomputed(ValueId V) const {
  const Op *Maker = maker(V);
  const Recomputation::Part *Part = Maker ? Again.findPart(*Maker) : nullptr;
  return Part && !Part->savesResult();
}

/// Returns whether the backward pass reads \p V for something else than a
/// product in compute_precision.
bool TypeAssigner::isSavedAnyway(ValueId V) const {
  return llvm::any_of(Old, [V](const Op &O) {
    return O.Phase == Phase::Backward && !O.IsLowPrecision &&
           llvm::is_contained(O.Operands, V);
  });
}

/// Returns whether attention makes \p V, or an op of its result: Megatron-LM
/// sets the projection of both to save its input, although nothing else saves
/// the second one (transformer/attention.py, Attention; transformer/
/// multi_latent_attention.py).
bool TypeAssigner::isFromAttention(ValueId V) const {
  const Op *Maker = maker(V);
  return Maker && (hasTrait(Maker->Kind, Attends) ||
                   llvm::any_of(Maker->Operands, [this](ValueId From) {
                     const Op *Before = maker(From);
                     return Before && hasTrait(Before->Kind, Attends);
                   }));
}

/// Returns \p V as \p To, converted right before \p For, which reads it.
ValueId TypeAssigner::convert(ValueId V, ElementType To, const Op &For) {
  if (B.Values[V].Type.Element == To)
    return V;
  const ValueId R = Build.derived(V, getName(To));
  B.Values[R].Type.Element = To;
  Build.setOrigin({For.Origin.Range, "types", For.Origin.Rule});
  Op &Cast = B.Ops[Build.op(OpKind::Cast, For.Name, {V}, {R})];
  Cast.Phase = For.Phase;
  Cast.Module = For.Module;
  Cast.For = For.For;
  return R;
}

/// Converts the operand of the forward product \p Id, and decides what its
/// backward products read of it. Tokens may come in the type of products.
void TypeAssigner::convertProduct(OpId Id, Op &O) {
  const ValueId From = O.Operands.front();
  O.Operands.front() = convert(From, Types.Compute, O);
  const bool SavesOriginal = Types.SavesOriginal || isRecomputed(From) ||
                             isSavedAnyway(From) || isFromAttention(From);
  Products[Id.Index] = {SavesOriginal ? From : O.Operands.front(), ValueId()};
}

/// Converts the operands of a backward product: of the gradient and the weight,
/// or of the input and the gradient. The first of the two converts the gradient
/// for both, and the input for the other, which overlaps it.
void TypeAssigner::convertBackward(Op &O) {
  Product &Is = Products.find(O.For.Index)->second;
  const size_t Index = O.Derivative == Derivative::Param ? 1 : 0;
  if (!Is.Gradient.isValid()) {
    Is.Gradient = convert(O.Operands[Index], Types.Compute, O);
    Is.Input = convert(Is.Input, Types.Compute, O);
  }
  O.Operands[Index] = Is.Gradient;
  if (O.Derivative == Derivative::Param)
    O.Operands.front() = Is.Input;
}

/// Converts the input of an activation function for it and its backward op.
/// The function may be recomputed; its input is not.
void TypeAssigner::convertActivation(Op &O) {
  if (Types.Activation == Types.Plain)
    return;
  if (O.Derivative == Derivative::None) {
    const ValueId From = O.Operands.front();
    Op Reader = O;
    if (const Op *Maker = maker(From))
      Reader.Module = Maker->Module;
    Stored[From.Index] = convert(From, Types.Activation, Reader);
  }
  for (ValueId &V : O.Operands)
    if (const auto It = Stored.find(V.Index); It != Stored.end())
      V = It->second;
}

/// Converts the tokens that \p O dispatches or combines. It sorts tokens by
/// expert, sums results of experts, or is the backward op of one of these.
void TypeAssigner::convertTokens(Op &O) {
  const bool IsBackward = O.Derivative != Derivative::None;
  const bool Sends = (O.Kind == OpKind::Permute) != IsBackward;
  const ElementType To = Sends ? Types.Dispatch : Types.Combine;
  if (To == Types.Plain)
    return;
  O.Operands.front() = convert(O.Operands.front(), To, O);
  // Combined tokens are summed, in a type of their own.
  if (Sends)
    B.Values[O.Results.front()].Type.Element = To;
}

/// Sorts received tokens by expert, or adds the gradients of their results, in
/// the type in which they were sent.
void TypeAssigner::passType(Op &O) {
  const bool Sorts =
      (O.Kind == OpKind::Pick) == (O.Derivative == Derivative::None);
  if (Sorts)
    B.Values[O.Results.front()].Type.Element =
        B.Values[O.Operands.front()].Type.Element;
}

void TypeAssigner::run() {
  storeParams();
  for (size_t I = 0; I < Old.size(); ++I) {
    Op O = Old[Old.idAt(I)];
    if (O.Kind == OpKind::Permute || O.Kind == OpKind::Unpermute)
      convertTokens(O);
    else if (O.Kind == OpKind::Pick || O.Kind == OpKind::Unpick)
      passType(O);
    else if (O.IsLowPrecision && O.Kind == OpKind::Activation)
      convertActivation(O);
    else if (O.IsLowPrecision && O.Derivative == Derivative::None)
      convertProduct(Old.idAt(I), O);
    else if (O.IsLowPrecision)
      convertBackward(O);
    NewId[static_cast<unsigned>(I)] = B.Ops.add(std::move(O));
  }
  for (Op &O : B.Ops)
    if (O.For.isValid())
      O.For = NewId[O.For.Index];
}

/// Warns of a type that the job itself sets and that no tensor has.
static void checkUse(const Program &P, llvm::StringRef Key,
                     const Located<TypeKind> &Type,
                     llvm::function_ref<bool(const Op &)> IsUse,
                     llvm::StringRef Without, DiagnosticEngine &Diags) {
  const TrainSpec &T = P.Spec.Train;
  const bool IsOfRecipe =
      T.Recipe.isPresent() && Type.Range.start() == T.Recipe.Range.start();
  if (!Type.isStated() || IsOfRecipe ||
      elementTypeOf(*Type) == elementTypeOf(*T.Precision) ||
      llvm::any_of(P.Blocks,
                   [&](const Block &B) { return llvm::any_of(B.Ops, IsUse); }))
    return;
  Diags.report(Type.Range, diag::KeyWithoutEffect, Key, Without);
}

/// Leaves the products whose weights the checkpoint does not quantize in the
/// type of activations.
static void keepUnquantized(Block &B, QuantizedKind Quantized) {
  for (Op &O : B.Ops)
    if (O.IsLowPrecision && O.Kind == OpKind::MatMul) {
      const bool IsOfExperts =
          B.Values[O.Operands[1]].Type.indexOf(DimKind::Expert) >= 0;
      O.IsLowPrecision = Quantized != (IsOfExperts ? QuantizedKind::Linear
                                                   : QuantizedKind::Experts);
    }
}

bool foretrace::assignTypes(Program &P, DiagnosticEngine &Diags) {
  if (P.Spec.Serve)
    for (Block &B : P.Blocks)
      keepUnquantized(B, *P.Spec.Serve->Quantized);
  for (Block &B : P.Blocks)
    if (const BlockTypes Types(P.Spec, B); !Types.arePlain())
      TypeAssigner(P, B, Types).run();
  const TrainSpec &T = P.Spec.Train;
  checkUse(
      P, "activation_precision", T.ActivationPrecision,
      [](const Op &O) {
        return O.IsLowPrecision && O.Kind == OpKind::Activation;
      },
      "without SwiGLU", Diags);
  auto SendsTokens = [](const Op &O) {
    return O.Kind == OpKind::Permute || O.Kind == OpKind::Pick;
  };
  checkUse(P, "dispatch_precision", T.DispatchPrecision, SendsTokens,
           "without experts", Diags);
  checkUse(P, "combine_precision", T.CombinePrecision, SendsTokens,
           "without experts", Diags);
  return true;
}
