// SPDX-License-Identifier: Apache-2.0
//
// differentiate: appends the backward ops of every block, still on whole
// tensors. An op gets a `.dgrad` for its inputs and a `.wgrad` for its
// parameters; a value used twice gets the sum of both gradients. The gradients
// of a block's outputs come from the block after it.

#include "ir/model/OpKinds.h"
#include "lang/diagnostics/Passes.h"
#include "passes/BlockBuilder.h"
#include "passes/Passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace foretrace;
using namespace foretrace::ir;

namespace {

class Differentiator {
public:
  /// Gradients of parameters are summed in \p SumType.
  Differentiator(Block &B, ElementType SumType, DiagnosticEngine &Diags)
      : B(B), Build(B, "differentiate"), SumType(SumType), Diags(Diags) {
    findDifferentiable();
  }

  bool run();
  /// Returns whether a value depends on something that is trained.
  bool isTrained(ValueId V) const { return Differentiable.contains(V.Index); }

private:
  bool begin();
  void differentiateLoss(OpId Forward);
  bool differentiate(OpId Forward);
  bool isDead(OpId Forward) const;
  llvm::SmallVector<ValueId, 3> activeOperands(OpId Forward) const;
  llvm::SmallVector<ValueId, 6> savedFor(OpId Forward,
                                         llvm::ArrayRef<ValueId> Active) const;
  void inputGradient(OpId Forward);
  void paramGradients(OpId Forward);
  void passThrough(OpId Forward);
  void accumulate(ValueId Of, ValueId Gradient, OpId Forward);

  ValueId gradientOf(ValueId V) const { return Gradients.lookup(V.Index); }
  ValueId newGradient(ValueId Of);
  void findDifferentiable();
  OpId emit(OpId Forward, Derivative D, llvm::ArrayRef<ValueId> Operands,
            llvm::ArrayRef<ValueId> Results);
  bool isParam(ValueId V) const { return B.Values[V].Kind == ValueKind::Param; }
  bool hasGradient(ValueId V) const {
    return !isParam(V) && isFloat(B.Values[V].Type.Element) && isTrained(V);
  }

  Block &B;
  BlockBuilder Build;
  const ElementType SumType;
  DiagnosticEngine &Diags;
  llvm::DenseMap<unsigned, ValueId> Gradients; ///< by value
  /// Values that depend on an input of the block or on trained parameters.
  llvm::DenseSet<unsigned> Differentiable;
};

} // namespace

/// Makes a gradient of its value's type, as PyTorch does. Gradients of
/// parameters have the type of sums over micro-batches, as Megatron-LM's fused
/// kernels add to `main_grad` (core/tensor_parallel/layers.py).
ValueId Differentiator::newGradient(ValueId Of) {
  TensorType Type = B.Values[Of].Type;
  if (isParam(Of))
    Type.Element = SumType;
  ValueId G = Build.value(ValueKind::Gradient, "d_" + B.Values[Of].Name, Type);
  B.Values[G].GradientOf = Of;
  return G;
}

OpId Differentiator::emit(OpId Forward, Derivative D,
                          llvm::ArrayRef<ValueId> Operands,
                          llvm::ArrayRef<ValueId> Results) {
  // Copies: the tables may grow while building.
  OpKind Kind = B.Ops[Forward].Kind;
  std::string Name = B.Ops[Forward].Name;
  Origin From = B.Ops[Forward].Origin;
  From.Pass = "differentiate";
  Build.setOrigin(From);
  OpId Id = Build.op(Kind, Name, Operands, Results);
  Op &O = B.Ops[Id];
  O.Derivative = D;
  O.Phase = Phase::Backward;
  O.For = Forward;
  O.IsLowPrecision = B.Ops[Forward].IsLowPrecision;
  if (D == Derivative::Input)
    O.Stated = B.Ops[Forward].Stated;
  return Id;
}

/// Adds to the gradient from later users of \p Of. Users are visited in
/// reverse, so the one that runs first in forward adds last.
void Differentiator::accumulate(ValueId Of, ValueId Gradient, OpId Forward) {
  auto [It, Inserted] = Gradients.try_emplace(Of.Index, Gradient);
  if (Inserted)
    return;
  ValueId Before = It->second;
  ValueId Sum = newGradient(Of);
  OpId Id = emit(Forward, Derivative::Input, {Before, Gradient}, {Sum});
  B.Ops[Id].Kind = OpKind::Add;
  B.Ops[Id].Stated = {};
  B.Ops[Id].IsLowPrecision = false;
  Gradients[Of.Index] = Sum;
}

/// The operands of \p Forward that have gradients.
llvm::SmallVector<ValueId, 3>
Differentiator::activeOperands(OpId Forward) const {
  const Op &O = B.Ops[Forward];
  llvm::ArrayRef<ValueId> In = O.Operands;
  if (getInfo(O.Kind).Backward == BackwardRule::Pairwise)
    In = In.take_front(O.Results.size());
  llvm::SmallVector<ValueId, 3> Active;
  llvm::copy_if(In, std::back_inserter(Active),
                [&](ValueId V) { return hasGradient(V); });
  return Active;
}

/// Returns the operands and results of \p Forward that its backward op reads.
llvm::SmallVector<ValueId, 6>
Differentiator::savedFor(OpId Forward, llvm::ArrayRef<ValueId> Active) const {
  const Op &O = B.Ops[Forward];
  llvm::SmallVector<ValueId, 6> Saved;
  switch (getInfo(O.Kind).Backward) {
  case BackwardRule::Own:
    Saved.append(Active.begin(), Active.end());
    return Saved;
  case BackwardRule::Others:
    llvm::copy_if(O.Operands, std::back_inserter(Saved), [&](ValueId V) {
      return llvm::any_of(Active, [V](ValueId Of) { return Of != V; });
    });
    break;
  case BackwardRule::All:
    Saved.append(O.Operands.begin(), O.Operands.end());
    break;
  default:
    return Saved;
  }
  // An unfused kernel saves its scores in place of a fused one's result.
  const bool ReadsFirst = hasTrait(O.Kind, Attends) && O.Results.size() == 1;
  Saved.append(O.Results.begin() + !ReadsFirst, O.Results.end());
  return Saved;
}

/// Adds one op that maps the results' gradients and the saved values to the
/// gradients of the operands that have one. Only what the kernel reads is
/// saved: activations that backward ops read are kept until then
/// (analysis/Liveness.h), and recomputed if the job says so.
void Differentiator::inputGradient(OpId Forward) {
  const llvm::SmallVector<ValueId, 3> Active = activeOperands(Forward);
  if (Active.empty())
    return;
  llvm::SmallVector<ValueId, 8> Operands;
  for (ValueId R : B.Ops[Forward].Results)
    if (ValueId G = gradientOf(R); G.isValid()) // else it has no use
      Operands.push_back(G);
  llvm::append_range(Operands, savedFor(Forward, Active));
  llvm::SmallVector<ValueId, 3> Results;
  for (ValueId V : Active)
    Results.push_back(newGradient(V));
  emit(Forward, Derivative::Input, Operands, Results);
  for (auto [V, G] : llvm::zip_equal(Active, Results))
    accumulate(V, G, Forward);
}

/// An op of its own for each, since it may run at another time than that of the
/// inputs: its operands are gathered ahead, and zero-bubble schedules put it
/// off.
void Differentiator::paramGradients(OpId Forward) {
  const llvm::SmallVector<ValueId, 3> Operands = B.Ops[Forward].Operands;
  // Uses the gradient of the first result, unless only others are used.
  const auto Used = llvm::find_if(B.Ops[Forward].Results, [&](ValueId V) {
    return gradientOf(V).isValid();
  });
  const ValueId OutGrad = gradientOf(*Used);
  for (ValueId V : Operands) {
    if (!isParam(V) || B.Values[V].Frozen)
      continue;
    ValueId G = newGradient(V);
    if (getInfo(B.Ops[Forward].Kind).Backward == BackwardRule::Passed)
      emit(Forward, Derivative::Param, {OutGrad}, {G});
    else
      emit(Forward, Derivative::Param, {Operands[0], OutGrad}, {G});
  }
}

/// The gradient of the result is the gradient of each summand.
void Differentiator::passThrough(OpId Forward) {
  ValueId OutGrad = gradientOf(B.Ops[Forward].Results[0]);
  const llvm::SmallVector<ValueId, 3> Operands = B.Ops[Forward].Operands;
  for (ValueId V : Operands)
    if (hasGradient(V))
      accumulate(V, OutGrad, Forward);
}

/// Returns whether the loss does not depend on the results of the op.
bool Differentiator::isDead(OpId Forward) const {
  const Op &O = B.Ops[Forward];
  return O.Kind != OpKind::Loss && llvm::none_of(O.Results, [&](ValueId V) {
           return gradientOf(V).isValid();
         });
}

/// The softmax less one at the target. The forward kernel has left it where the
/// logits were, so nothing is reduced again (Megatron-LM,
/// core/tensor_parallel/cross_entropy.py).
void Differentiator::differentiateLoss(OpId Forward) {
  ValueId Logits = B.Ops[Forward].Operands[0];
  for (const Op &O : llvm::reverse(B.Ops))
    if ((O.Kind == OpKind::Reduce || O.Kind == OpKind::Exchange) &&
        llvm::is_contained(O.Results, Logits))
      Logits = O.Operands[0];
  const ValueId G = newGradient(Logits);
  emit(Forward, Derivative::Input, {Logits}, {G});
  accumulate(Logits, G, Forward);
}

bool Differentiator::differentiate(OpId Forward) {
  const Op &O = B.Ops[Forward];
  switch (getInfo(O.Kind).Backward) {
  case BackwardRule::Undefined:
    Diags.report(O.Origin.Range, diag::NotDifferentiable, getMnemonic(O.Kind));
    return false;
  case BackwardRule::ByLoss:
  case BackwardRule::Stops:
    return true;
  case BackwardRule::Softmax:
    differentiateLoss(Forward);
    return true;
  case BackwardRule::Passed:
    passThrough(Forward);
    paramGradients(Forward);
    return true;
  case BackwardRule::Own:
    inputGradient(Forward);
    return true;
  case BackwardRule::Linear:
  case BackwardRule::Pairwise:
  case BackwardRule::Others:
  case BackwardRule::All:
    inputGradient(Forward);
    paramGradients(Forward);
    return true;
  }
  llvm_unreachable("every rule is handled");
}

/// Gradients begin at the outputs, or at the loss.
bool Differentiator::begin() {
  Signature &S = B.Signature;
  for (ValueId Out : S.Outputs) {
    if (!isFloat(B.Values[Out].Type.Element) || B.Values[Out].Detached)
      continue;
    Gradients[Out.Index] = newGradient(Out);
    S.OutputGradients.push_back(gradientOf(Out));
  }
  if (!S.Outputs.empty() ||
      llvm::any_of(B.Ops, [](const Op &O) { return O.Kind == OpKind::Loss; }))
    return true;
  Diags.report(B.Range, diag::NoOutputs, B.Name);
  return false;
}

void Differentiator::findDifferentiable() {
  for (const auto &[I, V] : llvm::enumerate(B.Values))
    if (V.Kind == ValueKind::Param && !V.Frozen)
      Differentiable.insert(static_cast<unsigned>(I));
  for (const ValueId V : B.Signature.Inputs)
    if (!B.Values[V].Detached)
      Differentiable.insert(V.Index);
  for (const Op &O : B.Ops)
    if (getInfo(O.Kind).Backward != BackwardRule::Stops &&
        llvm::any_of(O.Operands, [&](ValueId V) {
          return Differentiable.contains(V.Index);
        }))
      for (const ValueId V : O.Results)
        Differentiable.insert(V.Index);
}

bool Differentiator::run() {
  size_t NumForward = B.Ops.size(); // backward ops are appended to these
  if (NumForward == 0)
    return true;
  B.Ops.reserve(3 * NumForward); // for inputs, and for parameters
  B.Values.reserve(2 * B.Values.size() + 1);
  if (!begin())
    return false;
  for (size_t I = NumForward; I-- > 0;)
    if (OpId Forward = B.Ops.idAt(I);
        !isDead(Forward) && !differentiate(Forward))
      return false;
  for (ValueId In : B.Signature.Inputs) {
    if (!isFloat(B.Values[In].Type.Element) || B.Values[In].Detached)
      continue;
    const ValueId G = gradientOf(In);
    if (!G.isValid()) {
      if (In == B.Signature.Inputs.front())
        Diags.report(B.Range, diag::NoInputGradient, B.Name);
      else
        Diags.report(B.Range, diag::NoValueGradient, B.Values[In].Name);
      return false;
    }
    B.Signature.InputGradients.push_back(G);
  }
  return true;
}

/// Marks values that layers receive and pass besides the hidden state as
/// detached if they depend on no trained parameter, such as those of a frozen
/// tower.
static void detach(Program &P, ElementType SumType, DiagnosticEngine &Diags) {
  auto ForEach = [&](auto Visit) {
    for (Block &B : P.Blocks)
      if (const BlockSpec *Spec = P.Spec.Model.findBlock(B.Name)) {
        for (const auto &[Name, V] :
             llvm::zip(Spec->Receives, B.Signature.received()))
          Visit(B, V, Name);
        for (const auto &[Name, V] :
             llvm::zip(Spec->Passes, B.Signature.passed()))
          Visit(B, V, Name);
      }
  };
  std::set<std::string> Trained;
  for (size_t Before = 1; Before != Trained.size();) {
    Before = Trained.size();
    ForEach([&](Block &B, ValueId V, const std::string &Name) {
      B.Values[V].Detached = !Trained.count(Name);
    });
    ForEach([&](Block &B, ValueId V, const std::string &Name) {
      if (!Trained.count(Name) &&
          Differentiator(B, SumType, Diags).isTrained(V))
        Trained.insert(Name);
    });
  }
}

bool foretrace::differentiate(Program &P, DiagnosticEngine &Diags) {
  if (P.Spec.Serve)
    return true;
  // With ZeRO 2 and 3 reduced gradients are not yet accumulated ones.
  const TrainSpec &Train = P.Spec.Train;
  const ElementType SumType = *P.Spec.Parallel.Zero >= 2
                                  ? elementTypeOf(*Train.ReducePrecision)
                                  : elementTypeOf(*Train.GradPrecision);
  detach(P, SumType, Diags);
  bool IsDone = true;
  for (Block &B : P.Blocks)
    IsDone &= Differentiator(B, SumType, Diags).run();
  return IsDone;
}
