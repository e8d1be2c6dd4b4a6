// SPDX-License-Identifier: Apache-2.0
//
// Checks of the ops in the text of a layer: numbers of tensors, shapes, and the
// number that an op states about its work.

#include "ir/model/OpKinds.h"
#include "passes/HomeLayout.h"
#include "passes/LayerBody.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace foretrace;
using namespace foretrace::ir;

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

/// Returns whether each rank has all tokens of the samples of \p V.
bool LayerBody::hasWholeSequence(ValueId V) {
  const TensorType &T = B.block().Values[V].Type;
  const ParallelSpec &Par = P.Spec.Parallel;
  const Expr One = ir::numberOf(P, 1);
  if (T.indexOf(DimKind::Seq) < 0 && T.indexOf(DimKind::KvSeq) < 0)
    return true;
  const bool IsOnTp = isOfStream(P.Spec, T) && *Par.SequenceParallel;
  return demand(equal(exprOf(P, Par.Cp), One)) &&
         (!IsOnTp || demand(equal(exprOf(P, Par.Tp), One)));
}

/// Does the same as faultOf for groups of tokens that become one token each.
llvm::StringRef LayerBody::faultOfPool(llvm::ArrayRef<Dim> First,
                                       llvm::ArrayRef<Dim> Out) {
  if (First.size() < 2 || First.size() != Out.size() ||
      First[0].Kind != DimKind::Seq || Out[0].Kind != DimKind::Seq ||
      First.back().Kind != Out.back().Kind ||
      !isAlike(First.slice(1, First.size() - 2), Out.slice(1, Out.size() - 2)))
    return "the result has other dimensions than the operand";
  const Expr From(P.Sizes, First[0].Size), To(P.Sizes, Out[0].Size);
  return demand(divides(To, From)) &&
                 demand(equal(From * Expr(P.Sizes, First.back().Size),
                              To * Expr(P.Sizes, Out.back().Size)))
             ? ""
             : "the tokens of the result are not groups of those of the "
               "operand, with their channels side by side";
}

/// Does the same as faultOf for tokens that are inserted into a sample.
llvm::StringRef LayerBody::faultOfInsert(llvm::ArrayRef<ValueId> Operands,
                                         llvm::ArrayRef<Dim> Out) {
  const llvm::ArrayRef<Dim> First = dimsOf(Operands[0]);
  const llvm::ArrayRef<Dim> Inserted = dimsOf(Operands[1]);
  const auto &Values = B.block().Values;
  if (!isAlike(First, Out))
    return "the result has another shape than the operand";
  if (Inserted.empty() || Inserted[0].Kind != DimKind::FullSeq ||
      Values[Operands[0]].Type.Element != Values[Operands[1]].Type.Element ||
      !isAlike(First.drop_front(), Inserted.drop_front()))
    return "what is inserted has another type, or not all tokens on each "
           "rank (`full_seq`)";
  return demand(equal(less(Expr(P.Sizes, First[0].Size),
                           Expr(P.Sizes, Inserted[0].Size)),
                      ir::numberOf(P, 0)))
             ? ""
             : "what is inserted has more tokens than the operand";
}

/// Does the same as faultOf for ops along the sequence and for ops that change
/// dimensions.
llvm::StringRef LayerBody::faultOfSequenceOp(OpKind K,
                                             llvm::ArrayRef<ValueId> Operands,
                                             llvm::ArrayRef<ValueId> Results) {
  const llvm::ArrayRef<Dim> First = dimsOf(Operands[0]);
  const llvm::ArrayRef<Dim> Out = dimsOf(Results[0]);
  if ((K == OpKind::Conv || K == OpKind::Scan) &&
      !hasWholeSequence(Operands[0]))
    return "the sequence is split over ranks; exchange it for heads before "
           "the op";
  switch (K) {
  case OpKind::Conv:
    for (const ValueId Of : Operands.drop_front())
      if (!isAlike(First.take_back(), dimsOf(Of).take_front()))
        return "the weight is not of the channels of the operand";
    return isAlike(First, Out)
               ? ""
               : "the result has another shape than the operand";
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
  case OpKind::Pool:
    return faultOfPool(First, Out);
  case OpKind::Insert:
    return faultOfInsert(Operands, Out);
  case OpKind::Repeat:
    if (Operands.size() != Results.size())
      return "each operand has one result";
    for (const auto &[From, To] : llvm::zip(Operands, Results))
      if (!isAlike(dimsOf(From).drop_back(), dimsOf(To).drop_back()))
        return "a result differs from its operand in more than the last "
               "dimension";
    return "";
  case OpKind::Take: // a rank may have less of it than the operand, or more
    return llvm::all_of(
               Results,
               [&](ValueId V) { return dimsOf(V).size() == First.size(); })
               ? ""
               : "a result has more or fewer dimensions than the operand";
  default:
    llvm_unreachable("every such op is handled");
  }
}

/// Returns whether each dimension is one of \p Of, or has the extent 1.
bool LayerBody::isBroadcast(llvm::ArrayRef<Dim> Dims, llvm::ArrayRef<Dim> Of) {
  return llvm::all_of(Dims, [&](const Dim &Each) {
    return Expr(P.Sizes, Each.Size).isConstant(1) ||
           llvm::any_of(Of, [&](const Dim &Its) {
             return Its.Kind == Each.Kind && isAlike(Each, Its);
           });
  });
}

/// Returns whether \p Dims are those of a bias for \p Of, perhaps per expert.
bool LayerBody::isBias(llvm::ArrayRef<Dim> Dims, llvm::ArrayRef<Dim> Of) {
  return isAlike(Of.take_back(), Dims.take_back()) &&
         llvm::all_of(Dims.drop_back(),
                      [](const Dim &D) { return D.Kind == DimKind::Expert; });
}

/// Does the same as faultOf for a weight or a gate of a norm of \p Normed.
llvm::StringRef LayerBody::faultOfWeight(ValueId V,
                                         llvm::ArrayRef<Dim> Normed) {
  // A gate, or a number for each token.
  if (B.block().Values[V].Kind != ValueKind::Param)
    return isAlike(Normed, dimsOf(V)) || isAlike(Normed.drop_back(), dimsOf(V))
               ? ""
               : "the gate has another shape than the operand";
  return dimsOf(V).size() == 1 &&
                 demand(divides({P.Sizes, dimsOf(V).back().Size},
                                {P.Sizes, Normed.back().Size}))
             ? ""
             : "the weight does not divide the last dimension";
}

/// Does the same as faultOf for an opaque op: each result has all operand
/// dimensions that ranks split, and any number of channels.
llvm::StringRef LayerBody::faultOfOpaque(llvm::ArrayRef<ValueId> Operands,
                                         llvm::ArrayRef<ValueId> Results) {
  auto Keeps = [&](ValueId Made, const Dim &D) {
    const bool AreChannels = infoOf(P.Spec, D.Kind).Role == DimRole::Channels;
    if (llvm::any_of(dimsOf(Made), [&](const Dim &Of) {
          return Of.Kind == D.Kind && (AreChannels || Of == D);
        }))
      return true;
    const std::optional<Expr> Ranks = ranksAlong(D.Kind);
    return Ranks && demand(equal(*Ranks, ir::numberOf(P, 1)));
  };
  if (B.block().Values[Operands[0]].Kind == ValueKind::Param)
    return "the first operand is a parameter";
  for (const ValueId Read : Operands)
    for (const ValueId Made : Results)
      for (const Dim &D : dimsOf(Read)) {
        const bool IsSequence =
            D.Kind == DimKind::Seq && !llvm::is_contained(dimsOf(Made), D);
        if (!Keeps(Made, D) || (IsSequence && !hasWholeSequence(Read)))
          return "a result lacks a dimension that is split over ranks; "
                 "exchange it before the op";
      }
  return "";
}

/// Returns whether \p Second fits \p First in an element-wise op of two.
bool LayerBody::fits(OpKind K, llvm::ArrayRef<Dim> First,
                     llvm::ArrayRef<Dim> Second) {
  return K == OpKind::Mul || K == OpKind::Scale ? isBroadcast(Second, First)
                                                : isAlike(First, Second);
}

/// Returns the fault in the shapes of an op, if there is one.
llvm::StringRef LayerBody::faultOf(OpKind K, llvm::ArrayRef<ValueId> Operands,
                                   llvm::ArrayRef<ValueId> Results) {
  const llvm::ArrayRef<Dim> First = dimsOf(Operands[0]);
  const llvm::ArrayRef<Dim> Out = dimsOf(Results[0]);
  if (isCache(K) || K == OpKind::Hold) // of other tokens, or of none
    return "";
  switch (K) {
  case OpKind::Pool:
  case OpKind::Insert:
  case OpKind::Conv:
  case OpKind::Scan:
  case OpKind::Exchange:
  case OpKind::Repeat:
  case OpKind::Take:
    return faultOfSequenceOp(K, Operands, Results);
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
  case OpKind::Concat:
    // Channels that all heads share are copied to each.
    if (llvm::any_of(Operands, [&](ValueId V) {
          return dimsOf(V).back().Kind != Out.back().Kind;
        }))
      return "";
    [[fallthrough]];
  case OpKind::Split:
    return demand(equal(widthOf(Operands), widthOf(Results)))
               ? ""
               : "the parts are not as wide as the whole";
  case OpKind::BiasAdd:
    if (!isBias(dimsOf(Operands[1]), First))
      return "the bias is not as wide as the operand";
    break;
  case OpKind::Opaque:
    return faultOfOpaque(Operands, Results);
  case OpKind::Norm:
    for (const ValueId Weight : Operands.drop_front())
      if (const auto Fault = faultOfWeight(Weight, First); !Fault.empty())
        return Fault;
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
  case OpKind::Mul:
  case OpKind::Scale:
  case OpKind::Add:
  case OpKind::Sum:
    if (!fits(K, First, dimsOf(Operands[1])))
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

/// Checks the numbers of operands and results of an op, and that its operands
/// have dimensions; reports what is wrong.
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

/// Checks the number that an op states about its work; reports one that is
/// missing or negative.
bool LayerBody::isStatedRight(const layers::Statement &S, OpKind K,
                              std::optional<Expr> Stated) {
  const bool Needs = getInfo(K).Work == WorkRule::Stated;
  if (Stated ? demand(less(ir::numberOf(P, -1), *Stated)) : !Needs)
    return true;
  fail(S.Range, "`" + S.Name + "` needs " + (Stated ? "a positive `" : "`") +
                    getStatedName(K) + "`");
  return false;
}
