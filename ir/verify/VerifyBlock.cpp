// SPDX-License-Identifier: Apache-2.0
#include "ir/model/Measure.h"
#include "ir/model/OpKinds.h"
#include "ir/model/Spellings.h"
#include "ir/text/Print.h"
#include "ir/verify/VerifyParts.h"
#include "lang/diagnostics/IR.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// The two ways in which the ranks of a stage are counted; dp_replicate is in
/// both.
constexpr Axis DenseView[] = {Axis::Tp, Axis::Cp, Axis::Dp};
constexpr Axis ExpertView[] = {Axis::Etp, Axis::Ep, Axis::Edp};

/// How a value lies on one axis.
enum State : unsigned {
  Whole = 1,
  Split = 2,
  Partial = 4,
  Flat = 8,
  Single = 16,
};

/// Effect of a collective on each axis of its group.
struct Transition {
  OpKind Kind;
  unsigned From; ///< set of State
  unsigned To;
  llvm::StringLiteral Rule;
};
constexpr Transition Transitions[] = {
    {OpKind::AllGather, Split | Flat, Whole, "split or flat to whole"},
    {OpKind::ReduceScatter, Partial, Split | Flat, "partial to split or flat"},
    {OpKind::AllReduce, Partial, Whole, "partial to whole"},
    {OpKind::Broadcast, Single, Whole, "single to whole"},
    {OpKind::AllToAll, Split, Split, "split to split along another dimension"},
    {OpKind::Ring, Split | Partial, Whole | Split,
     "split to whole or partial to split"},
};

class BlockVerifier {
public:
  BlockVerifier(const Program &P, const Block &B, DiagnosticEngine &Diags);

  void run();

private:
  void verifyValue(ValueId Id);
  bool verifyView(const Value &V, SourceRange Range);
  void verifySplits(const Value &V, SourceRange Range);
  void reportSize(const Value &V, SourceRange Range);
  void verifyGradient(const Value &V, SourceRange Range);
  void verifyOp(OpId Id);
  void verifyCompute(const Op &O);
  void verifyCollective(const Op &O);
  void verifyMove(const Op &O, const Transition &T);
  void verifyMessages(const Op &O);

  const Program &P;
  const Block &B;
  DiagnosticEngine &Diags;
  std::vector<OpId> Makers; ///< by value
};

} // namespace

static State stateOf(const Layout &L, Axis A) {
  return L.isPartial(A)  ? Partial
         : L.isFlat(A)   ? Flat
         : L.isSplit(A)  ? Split
         : L.isSingle(A) ? Single
                         : Whole;
}

static std::string describe(const Program &P, const Value &V, Axis A) {
  switch (stateOf(V.Layout, A)) {
  case Whole:
    return "whole";
  case Partial:
    return "partial";
  case Flat:
    return "flat";
  case Single:
    return "single";
  case Split:
    return "split along " +
           infoOf(P.Spec, V.Type.Dims[V.Layout.splitDim(A)].Kind).Name;
  }
  llvm_unreachable("covered switch");
}

static std::string describe(const Program &P, const TensorType &T) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  print(P, T, Layout(), OS);
  return Text;
}

/// The gradient of a parameter has the type that gradients are summed in. That
/// of another value has its type, but for conversions of either.
static bool hasTypeOfGradient(const Value &Gradient, const Value &Of) {
  const ElementType Type = Gradient.Type.Element, TypeOf = Of.Type.Element;
  const bool IsConverted = Of.Kind == ValueKind::Param
                               ? !isScaled(Type)
                               : isScaled(Type) || isScaled(TypeOf);
  return Gradient.Type.Dims == Of.Type.Dims &&
         (Type == TypeOf || (IsConverted && isFloat(Type) && isFloat(TypeOf)));
}

static bool sameType(const TensorType &A, const TensorType &B) {
  return A.Element == B.Element && A.Dims == B.Dims;
}

BlockVerifier::BlockVerifier(const Program &P, const Block &B,
                             DiagnosticEngine &Diags)
    : P(P), B(B), Diags(Diags), Makers(B.Values.size()) {
  for (size_t I = 0; I < B.Ops.size(); ++I)
    for (ValueId V : B.Ops[B.Ops.idAt(I)].Results) {
      assert(!Makers[V.Index].isValid() && "a value has one op that makes it");
      Makers[V.Index] = B.Ops.idAt(I);
    }
}

bool BlockVerifier::verifyView(const Value &V, SourceRange Range) {
  auto UsesAny = [&](llvm::ArrayRef<Axis> Axes) {
    return llvm::any_of(Axes, [&](Axis A) { return !V.Layout.isWhole(A); });
  };
  bool IsBuffer = V.Type.indexOf(DimKind::Flat) >= 0;
  bool IsExpert = V.Type.isOfExperts() ||
                  (IsBuffer && !UsesAny(DenseView) && UsesAny(ExpertView));
  llvm::ArrayRef<Axis> View = IsExpert ? ExpertView : DenseView;
  for (Axis A : allAxes())
    if (!V.Layout.isWhole(A) && !llvm::is_contained(View, A) &&
        A != Axis::DpReplicate && !(A == Axis::Pp && IsBuffer)) {
      Diags.report(Range, diag::VerifyView, V.Name, getName(A),
                   IsExpert ? "etp x ep x edp" : "tp x cp x dp");
      return false;
    }
  return true;
}

/// The quotient with a rest for which \p Of, which has no value, has none;
/// nothing if that is beyond 2^63.
static std::optional<ExprId> findRest(const ExprTable &Sizes, ExprId Of) {
  auto LacksValue = [&](ExprId Operand) {
    return Operand.isValid() && Sizes.value(Operand) == NoValue;
  };
  // A loop, not a recursion: a sum may have as many terms as there are blocks.
  while (true) {
    const ExprNode &N = Sizes[Of];
    if (LacksValue(N.Left))
      Of = N.Left;
    else if (LacksValue(N.Right))
      Of = N.Right;
    else
      return N.Op == ExprOp::Div ? std::optional(Of) : std::nullopt;
  }
}

void BlockVerifier::reportSize(const Value &V, SourceRange Range) {
  const std::string What = "the size of `%" + V.Name + "`";
  for (const Dim &D : V.Type.Dims) {
    if (P.Sizes.value(D.Size) != NoValue)
      continue;
    if (const auto Rest = findRest(P.Sizes, D.Size)) {
      const ExprNode &N = P.Sizes[*Rest];
      std::string Quotient;
      llvm::raw_string_ostream OS(Quotient);
      print(P, *Rest, OS);
      Diags.report(Range, diag::VerifyRest, What, Quotient,
                   P.Sizes.value(N.Left), P.Sizes.value(N.Right));
      return;
    }
  }
  Diags.report(Range, diag::VerifyOverflow, What);
}

void BlockVerifier::verifySplits(const Value &V, SourceRange Range) {
  for (const auto &[Index, D] : llvm::enumerate(V.Type.Dims)) {
    const Elements Extent = extentOf(P, D);
    const int64_t Ranks =
        P.Mesh.groupSize(axesSplitting(P, V.Type, V.Layout, Index));
    const bool MayBeFew = P.Spec.Serve && D.Kind == DimKind::Slots;
    if (!MayBeFew && !Extent.isDivisibleBy(Ranks))
      Diags.report(Range, diag::VerifySplit, infoOf(P.Spec, D.Kind).Name,
                   Extent.value(), V.Name, Ranks);
  }
  if (bytesOfAll(P, V.Type).isOverflow())
    reportSize(V, Range);
}

void BlockVerifier::verifyGradient(const Value &V, SourceRange Range) {
  if (!V.GradientOf.isValid())
    return;
  const Value &Of = B.Values[V.GradientOf];
  if (!hasTypeOfGradient(V, Of))
    Diags.report(Range, diag::VerifyGradient, V.Name, describe(P, V.Type),
                 Of.Name, describe(P, Of.Type));
}

void BlockVerifier::verifyValue(ValueId Id) {
  const Value &V = B.Values[Id];
  OpId Maker = Makers[Id.Index];
  SourceRange Range = Maker.isValid() ? B.Ops[Maker].Origin.Range : B.Range;
  verifyGradient(V, Range);
  if (P.level() < Level::SPMD && V.Layout != Layout()) {
    Diags.report(Range, diag::VerifyUnsharded, "a layout", getName(P.level()));
    return;
  }
  if (verifyView(V, Range))
    verifySplits(V, Range);
}

void BlockVerifier::verifyCompute(const Op &O) {
  const ComputeInfo &Info = getInfo(O.Kind);
  if (O.Derivative == Derivative::None &&
      (O.Operands.size() < Info.Operands.Least ||
       O.Results.size() < Info.Results.Least))
    Diags.report(O.Origin.Range, diag::VerifyOperands, getMnemonic(O.Kind),
                 O.Operands.size(), O.Results.size(), int(Info.Operands.Least),
                 int(Info.Results.Least));
  if (!O.Group.empty())
    Diags.report(O.Origin.Range, diag::VerifyGroup, getMnemonic(O.Kind),
                 "takes no");
  // The gradient of a term itself is made of other factors.
  auto IsOfTerm = [&](const Value &V, Axis A) {
    return V.GradientOf.isValid() && B.Values[V.GradientOf].Layout.isPartial(A);
  };
  auto MakesTerms = [&](Axis A) {
    if (O.Kind == OpKind::View) // of ranks that share experts, as those of tp
      return (A == Axis::Ep || A == Axis::Etp) &&
             B.Values[O.Results.front()].Layout.isPartial(Axis::Tp);
    return isLinear(O.Kind) && llvm::all_of(O.Results, [&](ValueId R) {
             const Value &V = B.Values[R];
             return V.Layout.isPartial(A) || IsOfTerm(V, A);
           });
  };
  for (ValueId V : O.Operands)
    for (Axis A : allAxes())
      if (const Layout &L = B.Values[V].Layout;
          L.isSingle(A) || (L.isPartial(A) && !MakesTerms(A)))
        Diags.report(O.Origin.Range, diag::VerifyPartialOperand,
                     getMnemonic(O.Kind), B.Values[V].Name,
                     L.isPartial(A) ? "a partial sum over"
                                    : "on a single rank of",
                     getName(A));
  if (O.Kind == OpKind::Sum && O.Derivative == Derivative::None)
    for (Axis A : allAxes())
      if (B.Values[O.Operands[0]].Layout.isPartial(A) !=
          B.Values[O.Operands[1]].Layout.isPartial(A))
        Diags.report(O.Origin.Range, diag::VerifySummands, getMnemonic(O.Kind),
                     getName(A));
}

void BlockVerifier::verifyMove(const Op &O, const Transition &T) {
  const Value &From = B.Values[O.Operands[0]];
  const Value &To = B.Values[O.Results[0]];
  for (Axis A : allAxes()) {
    State Before = stateOf(From.Layout, A);
    State After = stateOf(To.Layout, A);
    bool SameDim =
        Before == After &&
        (Before != Split || From.Layout.splitDim(A) == To.Layout.splitDim(A));
    bool InGroup = O.Group.spans(A);
    bool Moves = (Before & T.From) && (After & T.To) && !SameDim;
    if (InGroup ? !Moves : !SameDim)
      Diags.report(O.Origin.Range, diag::VerifyMove, getMnemonic(O.Kind),
                   From.Name, getName(A), describe(P, From, A),
                   describe(P, To, A), InGroup ? T.Rule : "axes of its group");
  }
}

void BlockVerifier::verifyCollective(const Op &O) {
  llvm::StringRef Name = getMnemonic(O.Kind);
  if (P.level() < Level::SPMD)
    Diags.report(O.Origin.Range, diag::VerifyUnsharded, "a collective",
                 getName(P.level()));
  if (O.Group.empty())
    Diags.report(O.Origin.Range, diag::VerifyGroup, Name, "needs a");
  if (O.Group.Members != GroupMembers::All &&
      O.Group.name(P.Spec, P.Mesh).empty())
    Diags.report(
        O.Origin.Range, diag::VerifyGroup, Name,
        ("needs more than the " + getSpelling(O.Group.Members) + " of this")
            .str());
  if (O.Operands.size() != 1 || O.Results.size() != 1) {
    Diags.report(O.Origin.Range, diag::VerifyArity, Name, O.Operands.size(),
                 O.Results.size());
    return;
  }
  const Value &From = B.Values[O.Operands[0]];
  const Value &To = B.Values[O.Results[0]];
  TensorType Sent = From.Type;
  if (O.Kind == OpKind::AllGather)
    Sent.Element = From.Gathered.value_or(Sent.Element);
  if (!sameType(Sent, To.Type)) {
    Diags.report(O.Origin.Range, diag::VerifyCollectiveType, Name,
                 describe(P, From.Type), describe(P, To.Type));
    return;
  }
  for (const Transition &T : Transitions)
    if (T.Kind == O.Kind)
      verifyMove(O, T);
}

/// Checks that messages are flat values with all elements of the buffer.
void BlockVerifier::verifyMessages(const Op &O) {
  if (O.Messages.empty())
    return;
  const std::optional<int64_t> Sum = messageSum(O.Messages);
  const Value *Of = O.Operands.empty() ? nullptr : &B.Values[O.Operands[0]];
  const Elements All =
      Of && !Of->Type.Dims.empty() ? extentOf(P, Of->Type.Dims[0]) : Elements();
  if (!isCollective(O.Kind) || !Of || Of->Type.Dims.size() != 1 || !Sum ||
      Elements(*Sum) != All || messageCount(O.Messages) > MostMessages)
    Diags.report(O.Origin.Range, diag::VerifyMessageSizes, getMnemonic(O.Kind),
                 Sum.value_or(INT64_MAX), Of ? Of->Name : "", All.value());
}

void BlockVerifier::verifyOp(OpId Id) {
  const Op &O = B.Ops[Id];
  assert((!O.For.isValid() || B.Ops.contains(O.For)) && "an op of this block");
  if (O.Hidden != Nanoseconds() &&
      (!isCollective(O.Kind) || O.Hidden.value() > O.Time.value()))
    Diags.report(O.Origin.Range, diag::VerifyHidden, getMnemonic(O.Kind),
                 O.Hidden.value(), O.Time.value());
  verifyMessages(O);
  if (isCollective(O.Kind))
    verifyCollective(O);
  else
    verifyCompute(O);
  for (ValueId V : O.Operands) {
    OpId Maker = Makers[V.Index];
    if (Maker.isValid() && Maker.Index >= Id.Index)
      Diags.report(O.Origin.Range, diag::VerifyOrder, B.Values[V].Name)
          .note(B.Ops[Maker].Origin.Range, diag::DeclaredHere,
                "%" + B.Values[V].Name);
  }
  if (Id.Index == 0)
    return;
  const Op &Before = B.Ops[OpId{Id.Index - 1}];
  const bool IsInBackward =
      O.Phase == Phase::Recompute && Before.Phase == Phase::Backward;
  if (O.Phase < Before.Phase && !IsInBackward)
    Diags.report(O.Origin.Range, diag::VerifyPhase, getName(O.Phase),
                 getName(Before.Phase));
}

void BlockVerifier::run() {
  for (size_t I = 0; I < B.Values.size(); ++I)
    verifyValue(B.Values.idAt(I));
  for (size_t I = 0; I < B.Ops.size(); ++I)
    verifyOp(B.Ops.idAt(I));
}

void foretrace::ir::verifyBlock(const Program &P, const Block &B,
                                DiagnosticEngine &Diags) {
  BlockVerifier(P, B, Diags).run();
}
