// SPDX-License-Identifier: Apache-2.0
#include "passes/LayerBody.h"
#include "ir/model/OpKinds.h"
#include "ir/model/Spellings.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

TensorType LayerBody::hiddenType(Program &P) {
  const Spec &S = P.Spec;
  return {elementTypeOf(*S.Train.Precision),
          {{DimKind::Seq, exprOf(P, S.Train.Sequence)},
           {DimKind::Batch, exprOf(P, S.Train.MicroBatch)},
           {DimKind::Hidden, exprOf(P, S.Model.Hidden)}}};
}

ValueId LayerBody::addInput(llvm::StringRef Name, TensorType Type) {
  return B.value(ValueKind::Input, Name, std::move(Type));
}

/// Ops that the text of a job may use: others are parts of attention, of the
/// experts, and of the ends of a model.
static bool isForJobs(OpKind K) {
  if (hasTrait(K, Attends)) // `core_attention` of the library
    return false;
  const ComputeInfo &Info = getInfo(K);
  switch (Info.Backward) {
  case BackwardRule::Undefined:
  case BackwardRule::Pairwise:
  case BackwardRule::Own:
  case BackwardRule::ByLoss:
  case BackwardRule::Softmax:
    return false;
  default:
    return Info.Work != WorkRule::Rows && Info.Layouts != LayoutRule::Recount &&
           Info.Layouts != LayoutRule::AlongExperts;
  }
}

/// Ops of what comes before and after the layers of a model.
static bool isOfEnds(OpKind K) {
  return getInfo(K).Work == WorkRule::Rows ||
         getInfo(K).Backward == BackwardRule::Softmax;
}

/// Returns the type of a result without a stated one. A contraction has the
/// last dimension of its weight instead of its operand's; a lookup adds the
/// width of the table behind the indices; others are like their first operand.
TensorType LayerBody::inferred(OpKind K,
                               llvm::ArrayRef<ValueId> Operands) const {
  const auto &Values = B.block().Values;
  TensorType Type = Values[Operands[0]].Type;
  if (K == OpKind::MatMul)
    Type.Dims.back() = Values[Operands[1]].Type.Dims.back();
  if (K == OpKind::Embed) {
    Type.Element = Values[Operands[1]].Type.Element;
    Type.Dims.push_back(Values[Operands[1]].Type.Dims.back());
  }
  return Type;
}

void LayerBody::addSource(const layers::Statement &S, Frame &F) {
  using Kind = layers::Statement::Kind;
  const layers::Tensor &T = S.Tensors.front();
  const bool IsInput = S.Is == Kind::Input;
  if (Of && !isOfLibrary(S) && (S.Is == Kind::Tied || S.Is == Kind::Shared))
    return fail(S.Range, "only layers of the library have the table of words");
  std::string Name = nameIn(F.Path, T.Name);
  std::string Key = Name;
  if (Shared && S.Is == Kind::Param) {
    Name = Shared->Prefix + Name;
    Key = (Shared->Section + ":" + Name).str();
  }
  if (Shared)
    if (const auto Known = Shared->Known.find(Key);
        Known != Shared->Known.end()) {
      F.Tensors[T.Name] = Known->second;
      return;
    }
  const ValueId V = B.value(IsInput ? ValueKind::Input : ValueKind::Param, Name,
                            typeOf(T, F, !IsInput));
  if (Shared)
    Shared->Known[Key] = V;
  // A head that is tied has the table on the stage of the branch.
  const bool IsTied = *P.Spec.Model.Tied;
  Value &Made = B.block().Values[V];
  Made.Tied = S.Is == Kind::Shared || (S.Is == Kind::Tied && IsTied);
  // The first layers of an encoder have the table of the embedding, on its
  // stage; a branch has a copy beside that of the head (Megatron-LM,
  // models/gpt/gpt_model.py, skip_weight_param_allocation).
  Made.Alias = S.Is == Kind::Shared && In;
  if (!IsInput)
    Made.Part = F.Part;
  if (!IsInput && In) {
    Made.Alias |= llvm::is_contained(In->Aliases, F.Weights);
    Made.Copy = llvm::is_contained(In->Copies, F.Weights);
    Made.Shared = llvm::is_contained(In->Sums, F.Weights);
  }
  F.Tensors[T.Name] = V;
}

/// A number, or `none`.
std::optional<Expr> LayerBody::stated(const Node &Written, Frame &In) {
  const auto Deeper = nest();
  if (isBeyondLimits(Written))
    return std::nullopt;
  const Lazy Resolved = resolve(Written, In);
  const Node &E = *Resolved.Is;
  Frame &F = *Resolved.In;
  if (E.Is == Node::Kind::Conditional)
    return stated(E.Operands[holds(E.Operands[0], F) ? 1 : 2], F);
  if (E.Is == Node::Kind::Name && E.Text == "none")
    return std::nullopt;
  return number(E, F);
}

void LayerBody::addOp(const layers::Statement &S, Frame &F) {
  std::optional<OpKind> Kind = findOp(S.Name);
  const bool IsChecked = Of && Kind && isForJobs(*Kind);
  if (!Kind || isCollective(*Kind) ||
      (Of && !IsChecked &&
       (!isOfLibrary(S) || (isOfEnds(*Kind) && Of->Is->Range.isValid()))))
    return fail(S.Range, "no op `" + S.Name + "` for a layer of a job");
  llvm::SmallVector<ValueId, 4> Operands, Results;
  std::optional<Expr> Stated;
  bool IsLowPrecision = false;
  for (const layers::Argument &A : S.Arguments) {
    if (A.Name.empty()) {
      if (const ValueId V = tensor(A.Value, F); V.isValid())
        Operands.push_back(V);
    } else if (A.Name == getStatedName(*Kind)) {
      Stated = stated(A.Value, F);
    } else if (A.Name == "low_precision" &&
               (*Kind == OpKind::MatMul || *Kind == OpKind::Activation)) {
      IsLowPrecision = holds(A.Value, F);
    } else {
      return fail(A.Value.Range,
                  "the op `" + S.Name + "` takes no `" + A.Name + "`");
    }
  }
  if (!isGood() || (IsChecked && !checkOp(S, *Kind, Operands)))
    return;
  AreUnitsShared = false;
  for (const layers::Tensor &T : S.Tensors)
    Results.push_back(B.value(ValueKind::Activation, nameIn(F.Path, T.Name),
                              T.isTyped() ? typeOf(T, F, /*IsOfSource=*/false)
                                          : inferred(*Kind, Operands)));
  if (AreUnitsShared && Kind == OpKind::Split)
    Kind = OpKind::Take;
  // Shapes in the text of the library's attention and networks fit each other,
  // but a job can call a layer with tensors that do not.
  const bool AreShapesChecked =
      IsChecked && (!Of->Is->hasSections() || Of->Is->Range.isValid() ||
                    getInfo(*Kind).Layouts == LayoutRule::ByResult);
  if (AreShapesChecked && isGood())
    if (const llvm::StringRef Fault = faultOf(*Kind, Operands, Results);
        !Fault.empty())
      return fail(S.Range, "`" + S.Name + "`: " + Fault);
  if (AreShapesChecked && !isStatedRight(S, *Kind, Stated))
    return;
  const OpId Id = B.op(*Kind, nameIn(F.Path, S.As), Operands, Results);
  if (Stated)
    B.block().Ops[Id].Stated = *Stated;
  B.block().Ops[Id].IsLowPrecision = IsLowPrecision;
  for (const auto &[T, V] : llvm::zip_equal(S.Tensors, Results))
    F.Tensors[T.Name] = V;
}

void LayerBody::setOrigin(const layers::Statement &S, Frame &F) {
  if (!visitKeyAt({Node::Kind::Name, S.Name, {}, S.Range}, F,
                  [&](const auto &Key) { B.setOrigin(Key.Range, S.As); }) &&
      !F.Keys.contains(S.Name))
    fail(S.Range, "no key `" + S.Name + "`");
}

void LayerBody::enterModule(const layers::Statement &S, Frame &F) {
  const ModuleId Id = B.enterModule(S.Name);
  if (!S.As.empty())
    F.Modules.push_back({Id, &S});
}

/// Returns whether \p Id is \p Inner, or encloses it.
static bool encloses(const Block &B, ModuleId Id, ModuleId Inner) {
  while (Inner.isValid() && Inner != Id)
    Inner = B.Modules[Inner].Parent;
  return Inner == Id;
}

/// Finds the value that each module ends with; its last op makes it, or a later
/// one.
void LayerBody::endUse(Frame &F) {
  for (const auto &[Id, S] : F.Modules) {
    if (!isGood() || isStopped())
      return;
    const ValueId Until = tensor(S->As, S->Range, F);
    for (const Op &O : llvm::reverse(B.block().Ops)) {
      if (llvm::is_contained(O.Results, Until))
        B.block().Modules[Id].Until = Until;
      if (B.block().Modules[Id].Until.isValid() ||
          encloses(B.block(), Id, O.Module))
        break;
    }
    if (isGood() && !B.block().Modules[Id].Until.isValid())
      fail(S->Range,
           "no op after `module " + S->Name + "` makes `" + S->As + "`");
  }
}
