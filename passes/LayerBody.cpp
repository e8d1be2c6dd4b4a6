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

ValueId LayerBody::addHidden(llvm::StringRef Name) {
  return B.value(ValueKind::Input, Name, hiddenType(P));
}

/// What a dimension has if nothing is said.
std::optional<Expr> LayerBody::extentOf(DimKind K) const {
  const Spec &S = P.Spec;
  switch (K) {
  case DimKind::Seq:
  case DimKind::KvSeq:
  case DimKind::FullSeq:
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
    return std::nullopt;
  }
}

/// Whether the text of a job may have the dimension like this: tokens and
/// samples are those of the job, and experts are the library's.
static bool isForJobs(DimKind K, const layers::Expr &E) {
  switch (K) {
  case DimKind::Seq:
  case DimKind::KvSeq:
  case DimKind::FullSeq:
  case DimKind::Batch:
    return E.Is == layers::Expr::Kind::Name;
  case DimKind::Router:
  case DimKind::Expert:
  case DimKind::Slots:
  case DimKind::ExpertFfn:
  case DimKind::Vocab:
  case DimKind::Position:
  case DimKind::Flat:
    return false;
  default:
    return true;
  }
}

LayerBody::Dims LayerBody::dims(const Node &E, Frame &F) {
  const auto Deeper = nest();
  if (isBeyondLimits(E))
    return {};
  if (E.Is == Node::Kind::Call && E.Operands.size() != 1) {
    fail(E.Range, "a dimension has one extent");
    return {};
  }
  if (E.Is == Node::Kind::Conditional)
    return dims(E.Operands[holds(E.Operands[0], F) ? 1 : 2], F);
  const auto Kind = findSpelling<DimKind>(E.Text);
  if (Of && E.Range.isValid() && Kind && !isForJobs(*Kind, E)) {
    fail(E.Range, "`" + E.Text + "` is no such dimension of a layer of a job");
    return {};
  }
  if (E.Is == Node::Kind::Call && Kind)
    return {{*Kind, number(E.Operands[0], F)}};
  if (E.Is == Node::Kind::Call && (E.Text == "last" || E.Text == "rest")) {
    const ValueId Of = tensor(E.Operands[0], F);
    const llvm::ArrayRef<Dim> All =
        Of.isValid() ? B.block().Values[Of].Type.Dims : llvm::ArrayRef<Dim>();
    if (All.empty()) {
      fail(E.Range, "`" + E.Operands[0].Text + "` has no dimensions");
      return {};
    }
    return Dims(E.Text == "last" ? All.take_back() : All.drop_back());
  }
  if (const auto Key = F.Keys.find(E.Text);
      Key != F.Keys.end() && E.Is == Node::Kind::Name)
    return dims(*Key->second.Is, *Key->second.In);
  const std::optional<Expr> Extent =
      Kind && E.Is == Node::Kind::Name ? extentOf(*Kind) : std::nullopt;
  if (Extent)
    return {{*Kind, *Extent}};
  fail(E.Range, Kind ? "`" + E.Text + "` needs an extent, `" + E.Text + "(n)`"
                     : "no dimension `" + E.Text + "`");
  return {};
}

ElementType LayerBody::elementOf(const layers::Tensor &T, Frame &F) {
  if (T.Element.empty())
    return elementTypeOf(*P.Spec.Train.Precision);
  if (const auto Element = findSpelling<ElementType>(T.Element))
    return *Element;
  const Scalar Word = scalar({Node::Kind::Name, T.Element, {}, T.Range}, F);
  const auto *Text = std::get_if<std::string>(&Word);
  const auto Kind = Text ? findSpelling<PrecisionKind>(*Text) : std::nullopt;
  if (!Kind)
    fail(T.Range, "no type `" + T.Element + "`");
  return elementTypeOf(Kind.value_or(PrecisionKind::FP32));
}

TensorType LayerBody::typeOf(const layers::Tensor &T, Frame &F) {
  TensorType Type{elementOf(T, F), {}};
  if (T.Like.empty()) {
    for (const Node &D : T.Dims)
      llvm::append_range(Type.Dims, dims(D, F));
  } else if (const ValueId Of = tensor(T.Like, T.Range, F); Of.isValid()) {
    const TensorType &Like = B.block().Values[Of].Type;
    Type.Dims = Like.Dims;
    if (T.Element.empty())
      Type.Element = Like.Element;
  } else {
    fail(T.Range, "`" + T.Like + "` is no tensor");
  }
  for (const auto &[I, D] : llvm::enumerate(Type.Dims))
    if (Type.indexOf(D.Kind) != static_cast<int>(I))
      fail(T.Range, "`" + T.Name + "` has `" + getSpelling(D.Kind) + "` twice");
  return Type;
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

/// The last extents of some tensors, summed.
Expr LayerBody::widthOf(llvm::ArrayRef<ValueId> Tensors) const {
  llvm::SmallVector<ExprId, 4> Widths;
  for (const ValueId V : Tensors)
    Widths.push_back(dimsOf(V).back().Size);
  return sumOf(P, Widths);
}

/// Asks that the kinds of dimensions are the same and their extents equal.
bool LayerBody::isAlike(llvm::ArrayRef<Dim> A, llvm::ArrayRef<Dim> B) {
  if (A.size() != B.size())
    return false;
  for (const auto &[X, Y] : llvm::zip(A, B))
    if (X.Kind != Y.Kind ||
        (X.Size != Y.Size &&
         !demand(equal(Expr(P.Sizes, X.Size), Expr(P.Sizes, Y.Size)))))
      return false;
  return true;
}

/// Returns what is wrong about the shapes of an op, if anything is.
llvm::StringRef LayerBody::faultOf(OpKind K, llvm::ArrayRef<ValueId> Operands,
                                   llvm::ArrayRef<ValueId> Results) {
  const llvm::ArrayRef<Dim> First = dimsOf(Operands[0]);
  const llvm::ArrayRef<Dim> Out = dimsOf(Results[0]);
  switch (K) {
  case OpKind::MatMul: {
    const llvm::ArrayRef<Dim> Weight = dimsOf(Operands[1]);
    if (B.block().Values[Operands[1]].Kind != ValueKind::Param)
      return "the second operand is no parameter";
    if (!isAlike(First.take_back(), Weight.drop_back().take_back()))
      return "the last dimension of the operand is not the first of the weight";
    return isAlike(First.drop_back(), Out.drop_back()) &&
                   isAlike(Weight.take_back(), Out.take_back())
               ? ""
               : "the result has another shape than the product";
  }
  case OpKind::Conv:
    for (const ValueId Of : Operands.drop_front())
      if (!isAlike(First.take_back(), dimsOf(Of).take_front()))
        return "the weight is not of the channels of the operand";
    break;
  case OpKind::Scan:
    for (const ValueId V : llvm::concat<const ValueId>(Operands, Results))
      if (B.block().Values[V].Kind != ValueKind::Param &&
          !isAlike(First.drop_back(), dimsOf(V).drop_back()))
        return "the tensors are of different tokens";
    return "";
  case OpKind::Exchange:
    for (const auto &[From, To] : llvm::zip(First, Out))
      if (!demand(equal(Expr(P.Sizes, From.Size), Expr(P.Sizes, To.Size))))
        return "the result has other extents than the operand";
    return First.size() == Out.size()
               ? ""
               : "the result has more or fewer dimensions than the operand";
  case OpKind::Repeat:
    if (Operands.size() != Results.size())
      return "each operand has one result";
    for (const auto &[From, To] : llvm::zip(Operands, Results))
      if (!isAlike(dimsOf(From).drop_back(), dimsOf(To).drop_back()))
        return "a result differs from its operand in more than the last "
               "dimension";
    return "";
  case OpKind::Concat:
    // Channels that all heads share are copied to each.
    if (llvm::any_of(Operands, [&](ValueId V) {
          return dimsOf(V).back().Kind != Out.back().Kind;
        }))
      return "";
    [[fallthrough]];
  case OpKind::Take: // a rank may have less of it than the operand, or more
    return llvm::all_of(
               Results,
               [&](ValueId V) { return dimsOf(V).size() == First.size(); })
               ? ""
               : "a result has more or fewer dimensions than the operand";
  case OpKind::Split:
    return demand(equal(widthOf(Operands), widthOf(Results)))
               ? ""
               : "the parts are not as wide as the whole";
  case OpKind::BiasAdd:
    if (!isAlike(First.take_back(), dimsOf(Operands[1])))
      return "the bias is not as wide as the operand";
    break;
  case OpKind::Norm:
    for (const ValueId Weight : Operands.drop_front()) {
      if (B.block().Values[Weight].Kind != ValueKind::Param) { // a gate
        if (!isAlike(First, dimsOf(Weight)))
          return "the gate has another shape than the operand";
        continue;
      }
      if (dimsOf(Weight).size() != 1 ||
          !demand(divides({P.Sizes, dimsOf(Weight).back().Size},
                          {P.Sizes, First.back().Size})))
        return "the weight does not divide the last dimension";
    }
    break;
  case OpKind::Activation: {
    const Expr In(P.Sizes, First.back().Size), Made(P.Sizes, Out.back().Size);
    return isAlike(First.drop_back(), Out.drop_back()) &&
                   First.back().Kind == Out.back().Kind &&
                   demand(max(equal(In, Made), equal(In, Made * 2)))
               ? ""
               : "the result is neither as wide as the operand nor half as "
                 "wide";
  }
  case OpKind::Add:
  case OpKind::Mul:
    if (!isAlike(First, dimsOf(Operands[1])))
      return "the operands have different shapes";
    break;
  default:
    break;
  }
  for (const ValueId V : Results)
    if (!isAlike(First, dimsOf(V)))
      return "the result has another shape than the operand";
  return "";
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

/// Whether an op may have so many operands and results, of dimensions.
bool LayerBody::checkOp(const layers::Statement &S, OpKind K,
                        llvm::ArrayRef<ValueId> Operands) {
  const ComputeInfo &Info = getInfo(K);
  const size_t Results = S.Tensors.size();
  if (!Info.Operands.contains(Operands.size()) ||
      !Info.Results.contains(Results)) {
    fail(S.Range, "`" + S.Name + "` does not take " +
                      llvm::Twine(Operands.size()) + " tensors and make " +
                      llvm::Twine(Results));
    return false;
  }
  const bool HaveDims = llvm::all_of(Operands, [&](ValueId V) {
    return !B.block().Values[V].Type.Dims.empty();
  });
  const bool IsMatrix = (K != OpKind::MatMul && K != OpKind::Conv) ||
                        B.block().Values[Operands[1]].Type.Dims.size() > 1;
  if (!HaveDims || !IsMatrix)
    fail(S.Range, "an operand of `" + S.Name + "` has too few dimensions");
  return HaveDims && IsMatrix;
}

/// A number, or `none`.
std::optional<Expr> LayerBody::stated(const Node &E, Frame &F) {
  const auto Deeper = nest();
  if (isBeyondLimits(E))
    return std::nullopt;
  if (E.Is == Node::Kind::Conditional)
    return stated(E.Operands[holds(E.Operands[0], F) ? 1 : 2], F);
  if (const auto Key = F.Keys.find(E.Text);
      Key != F.Keys.end() && E.Is == Node::Kind::Name)
    return stated(*Key->second.Is, *Key->second.In);
  if (E.Is == Node::Kind::Name && E.Text == "none")
    return std::nullopt;
  return number(E, F);
}

/// Whether an op states of its work what it must, and no negative number.
bool LayerBody::isStatedRight(const layers::Statement &S, OpKind K,
                              std::optional<Expr> Stated) {
  const bool Needs = getInfo(K).Work == WorkRule::Stated;
  if (Stated ? demand(less(ir::numberOf(P, -1), *Stated)) : !Needs)
    return true;
  fail(S.Range, "`" + S.Name + "` needs " + (Stated ? "a positive `" : "`") +
                    getStatedName(K) + "`");
  return false;
}

void LayerBody::addOp(const layers::Statement &S, Frame &F) {
  const std::optional<OpKind> Kind = findOp(S.Name);
  const bool IsChecked = Of && (!isOfLibrary(S) || !Kind || isForJobs(*Kind));
  if (!Kind || isCollective(*Kind) ||
      (Of && !isForJobs(*Kind) &&
       (!isOfLibrary(S) || !hasTrait(*Kind, Attends))))
    return fail(S.Range, "no op `" + S.Name + "` for a layer of a job");
  llvm::SmallVector<ValueId, 4> Operands, Results;
  std::optional<Expr> Stated;
  for (const layers::Argument &A : S.Arguments) {
    if (A.Name.empty()) {
      if (const ValueId V = tensor(A.Value, F); V.isValid())
        Operands.push_back(V);
    } else if (A.Name == getStatedName(*Kind)) {
      Stated = stated(A.Value, F);
    } else {
      return fail(A.Value.Range,
                  "the op `" + S.Name + "` takes no `" + A.Name + "`");
    }
  }
  if (!isGood() || (IsChecked && !checkOp(S, *Kind, Operands)))
    return;
  for (const layers::Tensor &T : S.Tensors)
    Results.push_back(
        B.value(ValueKind::Activation, nameIn(F.Path, T.Name),
                T.isTyped() ? typeOf(T, F) : inferred(*Kind, Operands)));
  if (IsChecked && isGood())
    if (const llvm::StringRef Fault = faultOf(*Kind, Operands, Results);
        !Fault.empty())
      return fail(S.Range, "`" + S.Name + "`: " + Fault);
  if (IsChecked && !isStatedRight(S, *Kind, Stated))
    return;
  const OpId Id = B.op(*Kind, nameIn(F.Path, S.As), Operands, Results);
  if (Stated)
    B.block().Ops[Id].Stated = *Stated;
  for (const auto &[T, V] : llvm::zip_equal(S.Tensors, Results))
    F.Tensors[T.Name] = V;
}

void LayerBody::setOrigin(const layers::Statement &S, Frame &F) {
  if (!visitKey(S.Name, F,
                [&](const auto &Key) { B.setOrigin(Key.Range, S.As); }))
    fail(S.Range, "no key `" + S.Name + "`");
}
