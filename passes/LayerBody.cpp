// SPDX-License-Identifier: Apache-2.0
#include "passes/LayerBody.h"
#include "ir/model/OpKinds.h"
#include "ir/model/SpecFields.h"
#include "ir/model/Spellings.h"
#include "passes/ShippedLayers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/VersionTuple.h"

using namespace foretrace;
using namespace foretrace::ir;

using Node = layers::Expr;

/// An expression and where its names are looked up.
struct LayerBody::Lazy {
  const Node *Is;
  Frame *In;
};

/// One use of a layer.
struct LayerBody::Frame {
  std::string Path;                 ///< of its modules
  llvm::StringMap<ValueId> Tensors; ///< an invalid one is `none`
  llvm::StringMap<Lazy> Keys;       ///< and what `let` names
  bool IsOutermost = false;         ///< so that keys are those of the block
};

[[noreturn]] static void fail(const llvm::Twine &What) {
  llvm::report_fatal_error("in the text of a layer: " + What);
}

static const layers::Layer &layerOf(llvm::StringRef Name) {
  if (const layers::Layer *Found = findShippedLayer(Name))
    return *Found;
  fail("no layer `" + Name + "`");
}

static std::string nameIn(llvm::StringRef Path, llvm::StringRef Name) {
  return (Path + (Path.empty() || Name.empty() ? "" : ".") + Name).str();
}

/// Calls \p Visit with the member of the spec that \p Name is, if there is one:
/// a key of the block, or `train.dropout`.
template <typename VisitT>
bool LayerBody::visitKey(llvm::StringRef Name, Frame &F, VisitT Visit) const {
  bool IsFound = false;
  auto VisitIf = [&](bool IsNamed, const auto &Member) {
    if (IsFound || !IsNamed)
      return;
    IsFound = true;
    Visit(Member);
  };
  if (Name.contains('.'))
    visitJob(P.Spec, [&](const FieldRow &Row, const auto &Member) {
      VisitIf(pathOf(Row.Id) == Name, Member);
    });
  else if (F.IsOutermost && Of)
    visitBlock(*Of, [&](const FieldRow &Row, const auto &Member) {
      VisitIf(Row.Name == Name, Member);
    });
  return IsFound;
}

/// A name that is no key is a word.
LayerBody::Scalar LayerBody::scalarOf(llvm::StringRef Name, Frame &F) const {
  if (const auto Key = F.Keys.find(Name); Key != F.Keys.end())
    return scalar(*Key->second.Is, *Key->second.In);
  if (Name == "true" || Name == "false")
    return Name == "true";
  Scalar Found = Name.str();
  visitKey(Name, F, [&](const auto &Member) {
    if constexpr (std::is_enum_v<std::decay_t<decltype(*Member)>>)
      Found = getSpelling(*Member).str();
    else
      Found = *Member;
  });
  return Found;
}

LayerBody::Scalar LayerBody::scalar(const Node &E, Frame &F) const {
  switch (E.Is) {
  case Node::Kind::Number: {
    int64_t Value = 0;
    E.Text.getAsInteger(10, Value);
    return Value;
  }
  case Node::Kind::String:
    return E.Text.str();
  case Node::Kind::Name:
    return scalarOf(E.Text, F);
  case Node::Kind::Call: { // gated(activation)
    const auto Word = std::get<std::string>(scalar(E.Operands[0], F));
    return isGated(*findSpelling<ActivationKind>(Word));
  }
  case Node::Kind::Not:
    return !holds(E.Operands[0], F);
  case Node::Kind::And:
    return holds(E.Operands[0], F) && holds(E.Operands[1], F);
  case Node::Kind::Or:
    return holds(E.Operands[0], F) || holds(E.Operands[1], F);
  case Node::Kind::Conditional:
    return scalar(E.Operands[holds(E.Operands[0], F) ? 1 : 2], F);
  default:
    return compares(E, F);
  }
}

bool LayerBody::holds(const Node &E, Frame &F) const {
  return std::get<bool>(scalar(E, F));
}

/// Words of releases are in their order.
bool LayerBody::compares(const Node &E, Frame &F) const {
  const Node &L = E.Operands[0], &R = E.Operands[1];
  if (R.Is == Node::Kind::Name && R.Text == "none" &&
      F.Tensors.contains(L.Text))
    return tensor(L.Text, F).isValid() == (E.Is == Node::Kind::Ne);
  const Scalar Left = scalar(L, F), Right = scalar(R, F);
  int Sign = Left < Right ? -1 : Left == Right ? 0 : 1;
  llvm::VersionTuple A, B;
  if (Left.index() == 2 && !A.tryParse(std::get<std::string>(Left)) &&
      !B.tryParse(std::get<std::string>(Right)))
    Sign = A < B ? -1 : A == B ? 0 : 1;
  switch (E.Is) {
  case Node::Kind::Eq:
    return Sign == 0;
  case Node::Kind::Ne:
    return Sign != 0;
  case Node::Kind::Lt:
    return Sign < 0;
  case Node::Kind::Le:
    return Sign <= 0;
  case Node::Kind::Gt:
    return Sign > 0;
  case Node::Kind::Ge:
    return Sign >= 0;
  default:
    fail("not a condition");
  }
}

Expr LayerBody::numberOf(llvm::StringRef Name, Frame &F) const {
  if (const auto Key = F.Keys.find(Name); Key != F.Keys.end())
    return number(*Key->second.Is, *Key->second.In);
  std::optional<Expr> Found;
  visitKey(Name, F, [&](const auto &Member) {
    if constexpr (std::is_same_v<std::decay_t<decltype(Member)>,
                                 Located<int64_t>>)
      Found.emplace(exprOf(P, Member));
  });
  if (!Found)
    fail("`" + Name + "` is no number");
  return *Found;
}

Expr LayerBody::number(const Node &E, Frame &F) const {
  auto Operand = [&](size_t I) { return number(E.Operands[I], F); };
  switch (E.Is) {
  case Node::Kind::Number:
    return ir::numberOf(P, std::get<int64_t>(scalar(E, F)));
  case Node::Kind::Name:
    return numberOf(E.Text, F);
  case Node::Kind::Conditional:
    return Operand(holds(E.Operands[0], F) ? 1 : 2);
  case Node::Kind::Add:
    return Operand(0) + Operand(1);
  case Node::Kind::Mul:
    return Operand(0) * Operand(1);
  case Node::Kind::Div:
    return Operand(0) / Operand(1);
  default:
    fail("not a number");
  }
}

/// What a dimension has if nothing is said.
Expr LayerBody::extentOf(DimKind K) const {
  const Spec &S = P.Spec;
  switch (K) {
  case DimKind::Seq:
  case DimKind::KvSeq:
    return exprOf(P, S.Train.Sequence);
  case DimKind::Batch:
    return exprOf(P, S.Train.MicroBatch);
  case DimKind::Hidden:
    return exprOf(P, S.Model.Hidden);
  case DimKind::Vocab:
    return exprOf(P, S.Model.PaddedVocab);
  case DimKind::Position:
    return exprOf(P, S.Model.MaxPositions);
  default:
    fail("`" + getSpelling(K) + "` without an extent");
  }
}

LayerBody::Dims LayerBody::dims(const Node &E, Frame &F) const {
  if (E.Is == Node::Kind::Conditional)
    return dims(E.Operands[holds(E.Operands[0], F) ? 1 : 2], F);
  const auto Kind = findSpelling<DimKind>(E.Text);
  if (E.Is == Node::Kind::Call) {
    if (Kind)
      return {{*Kind, number(E.Operands[0], F)}};
    const ValueId Of = tensor(E.Operands[0].Text, F);
    const llvm::ArrayRef<Dim> All = B.block().Values[Of].Type.Dims;
    return Dims(E.Text == "last" ? All.take_back() : All.drop_back());
  }
  if (const auto Key = F.Keys.find(E.Text); Key != F.Keys.end())
    return dims(*Key->second.Is, *Key->second.In);
  if (!Kind)
    fail("no dimension `" + E.Text + "`");
  return {{*Kind, extentOf(*Kind)}};
}

ValueId LayerBody::tensor(llvm::StringRef Name, Frame &F) const {
  const auto Found = F.Tensors.find(Name);
  if (Found == F.Tensors.end() && Name != "none")
    fail("no tensor `" + Name + "`");
  return Found == F.Tensors.end() ? ValueId() : Found->second;
}

ElementType LayerBody::elementOf(llvm::StringRef Name, Frame &F) const {
  if (Name.empty())
    return elementTypeOf(*P.Spec.Train.Precision);
  if (const auto Element = findSpelling<ElementType>(Name))
    return *Element;
  return elementTypeOf(
      *findSpelling<PrecisionKind>(std::get<std::string>(scalarOf(Name, F))));
}

TensorType LayerBody::typeOf(const layers::Tensor &T, Frame &F) const {
  if (!T.Like.empty()) {
    TensorType Type = B.block().Values[tensor(T.Like, F)].Type;
    if (!T.Element.empty())
      Type.Element = elementOf(T.Element, F);
    return Type;
  }
  TensorType Type{elementOf(T.Element, F), {}};
  for (const Node &D : T.Dims)
    llvm::append_range(Type.Dims, dims(D, F));
  return Type;
}

/// The type of a result that is not said: a contraction has the last dimension
/// of its weight in place of its operand's; rows of a table have theirs behind
/// those of what they stand for; all else is like its first operand.
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
  const layers::Tensor &T = S.Tensors.front();
  const bool IsInput = S.Is == layers::Statement::Kind::Input;
  const ValueId V = B.value(IsInput ? ValueKind::Input : ValueKind::Param,
                            nameIn(F.Path, T.Name), typeOf(T, F));
  if (S.Is == layers::Statement::Kind::Tied)
    B.block().Values[V].Tied = *P.Spec.Model.Tied;
  F.Tensors[T.Name] = V;
}

void LayerBody::addOp(const layers::Statement &S, Frame &F) {
  const std::optional<OpKind> Kind = findOp(S.Name);
  if (!Kind)
    fail("no op `" + S.Name + "`");
  llvm::SmallVector<ValueId, 4> Operands, Results;
  for (const layers::Argument &A : S.Arguments)
    if (const ValueId V = tensor(A.Value.Text, F); V.isValid())
      Operands.push_back(V);
  for (const layers::Tensor &T : S.Tensors)
    Results.push_back(
        B.value(ValueKind::Activation, nameIn(F.Path, T.Name),
                T.isTyped() ? typeOf(T, F) : inferred(*Kind, Operands)));
  B.op(*Kind, nameIn(F.Path, S.As), Operands, Results);
  for (const auto &[T, V] : llvm::zip_equal(S.Tensors, Results))
    F.Tensors[T.Name] = V;
}

void LayerBody::call(const layers::Statement &S, Frame &F) {
  const layers::Layer &L = layerOf(S.Name);
  Frame Inner;
  Inner.Path = nameIn(F.Path, S.As);
  size_t Given = 0;
  for (const layers::Argument &A : S.Arguments)
    if (A.Name.empty())
      Inner.Tensors[L.Inputs[Given++]] = tensor(A.Value.Text, F);
    else
      Inner.Keys.try_emplace(A.Name, Lazy{&A.Value, &F});
  run(L.Body, Inner);
  for (const auto &[T, Name] : llvm::zip_equal(S.Tensors, L.Outputs))
    F.Tensors[T.Name] = tensor(Name, Inner);
}

void LayerBody::run(const layers::Statement &S, Frame &F) {
  using Kind = layers::Statement::Kind;
  switch (S.Is) {
  case Kind::Key:
    if (!S.Values.empty())
      F.Keys.try_emplace(S.Name, Lazy{S.Values.begin(), &F});
    return;
  case Kind::Let:
    F.Keys.try_emplace(S.Name, Lazy{S.Values.begin(), &F});
    return;
  case Kind::Param:
  case Kind::Tied:
  case Kind::Input:
    return addSource(S, F);
  case Kind::From:
    visitKey(S.Name, F, [&](const auto &Key) { B.setOrigin(Key.Range, S.As); });
    return;
  case Kind::If:
    return run(holds(S.Values.front(), F) ? S.Then : S.Else, F);
  case Kind::Op:
    return addOp(S, F);
  case Kind::Layer:
    return call(S, F);
  case Kind::Rename:
    F.Tensors[S.Tensors.front().Name] = tensor(S.Name, F);
    return;
  }
}

void LayerBody::run(llvm::ArrayRef<layers::Statement> Body, Frame &F) {
  for (const layers::Statement &S : Body)
    run(S, F);
}

llvm::SmallVector<ValueId, 1> LayerBody::add(llvm::StringRef Name,
                                             llvm::ArrayRef<ValueId> Inputs) {
  const layers::Layer &L = layerOf(Name);
  Frame F;
  F.IsOutermost = true;
  for (const auto &[Input, V] : llvm::zip_equal(L.Inputs, Inputs))
    F.Tensors[Input] = V;
  run(L.Body, F);
  llvm::SmallVector<ValueId, 1> Outputs;
  for (llvm::StringRef Out : L.Outputs)
    Outputs.push_back(tensor(Out, F));
  return Outputs;
}
