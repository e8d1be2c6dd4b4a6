// SPDX-License-Identifier: Apache-2.0
//
// Dimensions and types of tensors in the text of a layer.
#include "ir/model/Spellings.h"
#include "passes/HomeLayout.h"
#include "passes/LayerBody.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Returns the extent of a dimension that is named without one.
std::optional<Expr> LayerBody::extentOf(DimKind K) const {
  const Spec &S = P.Spec;
  auto Stated = [&](const Located<int64_t> &Key) -> std::optional<Expr> {
    if (!Key.isPresent())
      return std::nullopt;
    return exprOf(P, Key);
  };
  switch (K) {
  case DimKind::Seq:
  case DimKind::KvSeq:
  case DimKind::FullSeq:
    return exprOf(P, S.Train.Sequence);
  case DimKind::Context:
    return S.Serve ? Stated(S.Serve->MaxLength) : std::nullopt;
  case DimKind::Batch:
    return exprOf(P, S.Train.MicroBatch);
  case DimKind::Hidden:
    return exprOf(P, S.Model.Hidden);
  case DimKind::Vocab:
    return Stated(S.Model.PaddedVocab);
  case DimKind::Position:
    return Stated(S.Model.MaxPositions);
  default:
    return std::nullopt;
  }
}

/// Returns whether the text of a job may have such a dimension: samples are
/// those of the job, and only the library has experts.
static bool isForJobs(DimKind Kind, DimRole Role, const layers::Expr &E) {
  switch (Role) {
  case DimRole::Tokens:
    return Kind != DimKind::Batch || E.Is == layers::Expr::Kind::Name;
  case DimRole::Stream:
  case DimRole::Channels:
    return true;
  case DimRole::Experts:
  case DimRole::Ends:
  case DimRole::Buffer:
    return false;
  }
  llvm_unreachable("covered switch");
}

/// Returns the dimension that \p E names, if the layer may have it in this
/// form; reports it if not.
std::optional<DimKind> LayerBody::kindOf(const Node &E) {
  const std::optional<DimKind> Kind = findDim(P.Spec, E.Text);
  if (Kind && Of && E.Range.isValid() &&
      !isForJobs(*Kind, infoOf(P.Spec, *Kind).Role, E)) {
    fail(E.Range, "`" + E.Text + "` is no such dimension of a layer of a job");
    return std::nullopt;
  }
  return Kind;
}

const Located<int64_t> *LayerBody::sizeAlong(Axis A) const {
  const ParallelSpec &Par = P.Spec.Parallel;
  const Located<int64_t> *Size = A == Axis::Tp    ? &Par.Tp
                                 : A == Axis::Cp  ? &Par.Cp
                                 : A == Axis::Etp ? &Par.Etp
                                                  : nullptr;
  return Size && Size->isPresent() ? Size : nullptr;
}

std::optional<Expr> LayerBody::ranksAlong(llvm::ArrayRef<Axis> Axes) const {
  Expr Ranks = ir::numberOf(P, 1);
  for (const Axis A : Axes) {
    const Located<int64_t> *Size = sizeAlong(A);
    if (!Size)
      return std::nullopt;
    Ranks = Ranks * exprOf(P, *Size);
  }
  return Ranks;
}

/// Returns whether \p E is a dimension by its form.
static bool isDim(const Spec &S, const layers::Expr &E) {
  return E.Is == layers::Expr::Kind::Call &&
         (E.Text == "pack" || findDim(S, E.Text));
}

std::optional<LayerBody::Units> LayerBody::units(const Node &Written,
                                                 Frame &In) {
  Lazy Called = {&Written, &In};
  FewUnits Few = FewUnits::Refused;
  if (Written.Is == Node::Kind::Or) {
    const llvm::StringRef Word = Written.Operands[1].Text;
    if (Word != "gather" && Word != "whole") {
      fail(Written.Range, "expected `or gather` or `or whole`");
      return std::nullopt;
    }
    Few = Word == "gather" ? FewUnits::Gathered : FewUnits::Whole;
    Called = resolve(Written.Operands[0], In);
  }
  const Node &E = *Called.Is;
  const auto Kind = kindOf(E);
  if (!isGood())
    return std::nullopt;
  if (E.Is != Node::Kind::Call || !Kind) {
    fail(E.Range, "expected a dimension with a number of units");
    return std::nullopt;
  }
  if (E.Operands.empty() || E.Operands.size() > 2) {
    fail(E.Range, "a dimension has a number of units and the width of one");
    return std::nullopt;
  }
  // Another dimension with the same units: `heads(pack(q, k))`.
  const Lazy Count = resolve(E.Operands[0], *Called.In);
  if (isDim(P.Spec, *Count.Is) && E.Operands.size() > 1) {
    fail(E.Range, "a dimension like another one has no width of its own");
    return std::nullopt;
  }
  if (isDim(P.Spec, *Count.Is)) {
    const Dims Same = dims(*Count.Is, *Count.In);
    if (!isGood())
      return std::nullopt;
    return Units{*Kind, Expr(P.Sizes, Same[0].Size), ir::numberOf(P, 1), Few};
  }
  return Units{*Kind, number(E.Operands[0], *Called.In),
               E.Operands.size() > 1 ? number(E.Operands[1], *Called.In)
                                     : ir::numberOf(P, 1),
               Few};
}

/// Returns whether ranks share units of \p U, as the text allows.
bool LayerBody::areShared(const Units &U) {
  const std::optional<Expr> Ranks = ranksAlong(U.Kind);
  return U.Few != FewUnits::Refused && Ranks &&
         decide(divides(*Ranks, U.Count)) == 0;
}

/// A parameter has each unit once. A rank's part of an activation is whole
/// units, including those that it shares with others.
Dim LayerBody::dimOf(const Units &U) {
  const Expr Extent = U.Count * U.Size;
  if (!areShared(U))
    return {U.Kind, Extent};
  AreUnitsShared = true;
  if (IsOfParam)
    return {U.Few == FewUnits::Whole ? DimKind::Whole : U.Kind, Extent};
  return {U.Kind, *ranksAlong(U.Kind) * U.Size};
}

/// Returns components side by side; each rank has a part of each.
LayerBody::Dims LayerBody::pack(const Node &E, Frame &F) {
  Dims Parts;
  for (const Node &Operand : E.Operands)
    llvm::append_range(Parts, dims(Operand, F));
  if (!isGood())
    return {};
  llvm::SmallVector<ExprId, 4> Extents;
  for (const Dim &Part : Parts) {
    Extents.push_back(Part.Size);
    if (Part.Kind != Parts.front().Kind) {
      fail(E.Range, "`" + infoOf(P.Spec, Parts.front().Kind).Name + "` and `" +
                        infoOf(P.Spec, Part.Kind).Name +
                        "` are split differently");
      return {};
    }
  }
  return {{Parts.front().Kind, sumOf(P, Extents)}};
}

std::optional<Expr> LayerBody::unitsOf(const Node &E, Frame &F) {
  const Lazy Of = resolve(E, F);
  const std::optional<Units> U = units(*Of.Is, *Of.In);
  if (!U)
    return std::nullopt;
  return areShared(*U) ? *ranksAlong(U->Kind) : U->Count;
}

LayerBody::Dims LayerBody::dims(const Node &Written, Frame &In) {
  const auto Deeper = nest();
  if (isBeyondLimits(Written))
    return {};
  const Lazy Resolved = resolve(Written, In);
  const Node &E = *Resolved.Is;
  Frame &F = *Resolved.In;
  if (E.Is == Node::Kind::Conditional)
    return dims(E.Operands[holds(E.Operands[0], F) ? 1 : 2], F);
  if (E.Is == Node::Kind::Call && E.Text == "pack")
    return pack(E, F);
  const auto Kind = kindOf(E);
  if (!isGood())
    return {};
  if (E.Is == Node::Kind::Or || (E.Is == Node::Kind::Call && Kind)) {
    const std::optional<Units> U = units(E, F);
    return U ? Dims{dimOf(*U)} : Dims();
  }
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
  const std::optional<Expr> Extent =
      Kind && E.Is == Node::Kind::Name ? extentOf(*Kind) : std::nullopt;
  if (Extent)
    return {{*Kind, *Extent}};
  const bool IsOfEnds = Kind && infoOf(P.Spec, *Kind).Role == DimRole::Ends;
  fail(E.Range, IsOfEnds ? "no layer has the dimension `" + E.Text + "`"
                : Kind ? "`" + E.Text + "` needs an extent, `" + E.Text + "(n)`"
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
  const auto Type = Text ? findSpelling<ElementType>(*Text) : std::nullopt;
  if (!Type)
    fail(T.Range, "no type `" + T.Element + "`");
  return Type.value_or(ElementType::FP32);
}

TensorType LayerBody::typeOf(const layers::Tensor &T, Frame &F,
                             bool IsOfSource) {
  const llvm::SaveAndRestore<bool> Within(IsOfParam, IsOfSource);
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
    if (Type.indexOf(D.Kind) != static_cast<int>(I) &&
        !(IsOfSource && canRepeat(infoOf(P.Spec, D.Kind))))
      fail(T.Range,
           "`" + T.Name + "` has `" + infoOf(P.Spec, D.Kind).Name + "` twice");
  return Type;
}
