// SPDX-License-Identifier: Apache-2.0
//
// Checks of the sizes of a layer's tensors.
#include "ir/model/SpecKeys.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Passes.h"
#include "passes/HomeLayout.h"
#include "passes/derive/LayerRules.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Returns the largest number that the job states of those that \p Of follows
/// from, or null.
const Located<int64_t> *Deriver::largestIn(Expr Of) {
  const Located<int64_t> *Largest = nullptr;
  llvm::SmallVector<ExprId> Left = {Of};
  llvm::SmallSet<unsigned, 16> Seen;
  while (!Left.empty()) {
    const ExprId Id = Left.pop_back_val();
    if (!Id.isValid() || !Seen.insert(Id.Index).second)
      continue;
    const ExprNode &N = Program.Sizes[Id];
    Left.append({N.Left, N.Right});
    const Located<int64_t> *Key = N.Op == ExprOp::Key && !N.Left.isValid()
                                      ? findField(S, N.Key)
                                      : nullptr;
    if (Key && Key->Range.isValid() && (!Largest || **Key > **Largest))
      Largest = Key;
  }
  return Largest;
}

/// `tp x cp`.
static std::string namesOf(llvm::ArrayRef<Axis> Axes) {
  return llvm::join(llvm::map_range(Axes, getSpelling<Axis>), " x ");
}

/// Extents are counts, and tensors are split over the axes that their
/// dimensions name, between units.
void Deriver::LayerRules::checkExtent(const Node &Written,
                                      llvm::StringRef Tensor, Frame &In) {
  const auto Deeper = nest();
  if (isBeyondLimits(Written))
    return;
  const Lazy Resolved = resolve(Written, In);
  const Node &E = *Resolved.Is;
  Frame &F = *Resolved.In;
  if (E.Is == Node::Kind::Conditional)
    return checkExtent(E.Operands[holds(E.Operands[0], F) ? 1 : 2], Tensor, F);
  if (E.Is == Node::Kind::Call && E.Text == "pack") {
    for (const Node &Part : E.Operands)
      checkExtent(Part, Tensor, F);
    return;
  }
  if (E.Is != Node::Kind::Or &&
      !(E.Is == Node::Kind::Call && findDim(D.S, E.Text)))
    return;
  const std::optional<Units> U = units(E, F);
  if (!isGood())
    return;
  const DimInfo &Row = infoOf(D.S, U->Kind);
  const Expr Extent = U->Count * U->Size;
  const Located<int64_t> *Key = blamed(E, F);
  const Located<int64_t> &Blamed = Key ? *Key : D.S.Parallel.Tp;
  auto Report = [&](diag::Id Id, const auto &...Args) {
    D.error(Key && Key->Range.isValid() ? Key->Range : Use.Range, Id, Use.Kind,
            Tensor, Row.Name, Args...)
        .note(E.Range.isValid() ? E.Range : caller(), diag::RequiredHere);
  };
  if (!D.exists(Extent, Blamed)) {
    Key = D.largestIn(Extent);
    if (D.Blamed.insert(Key ? Key->Range.start() : Use.Range.start()).second)
      Report(diag::LayerExtent, "no whole number below 2^63");
    return;
  }
  for (const Expr Each : {U->Count, U->Size})
    if (!D.holds(less(D.number(0), Each), diag::LayerExtent, Blamed))
      return Report(diag::LayerExtent, std::to_string(Each.value()));
  if (Row.Role == DimRole::Tokens &&
      ExprId(Extent) == ExprId(D.of(D.S.Train.Sequence)))
    return; // checkSequence reports it
  std::optional<Expr> Ranks = ranksAlong(U->Kind);
  AxisList Axes = Row.ActivationAxes;
  if (U->Kind == DimKind::Seq && *D.S.Parallel.SequenceParallel && Ranks) {
    Axes.insert(Axes.begin(), Axis::Tp);
    Ranks = D.of(D.S.Parallel.Tp) * *Ranks;
  }
  if (!Ranks || Ranks->isConstant(1))
    return;
  const bool CanShare = U->Few != FewUnits::Refused;
  const Expr IsLegal =
      CanShare ? max(divides(*Ranks, U->Count), divides(U->Count, *Ranks))
               : divides(*Ranks, U->Count);
  if (!D.holds(IsLegal, diag::LayerIndivisible, Blamed))
    Report(diag::LayerIndivisible, U->Count.value(),
           CanShare ? "neither a multiple nor a divisor" : "not a multiple",
           namesOf(Axes), Ranks->value());
}

/// A weight whose units ranks share is split between columns.
void Deriver::LayerRules::checkColumns(const layers::Tensor &T, Frame &F) {
  const ValueId V = tensor(T.Name, T.Range, F);
  if (!V.isValid())
    return;
  for (const Dim &Each : dimsOf(V)) {
    const DimInfo &Row = infoOf(D.S, Each.Kind);
    const std::optional<Expr> Ranks = ranksAlong(Row.ParamAxes);
    const Expr Columns(P.Sizes, Each.Size);
    if (Row.ParamAxes.empty() || !Ranks ||
        D.holds(divides(*Ranks, Columns), diag::LayerIndivisible,
                D.S.Parallel.Tp))
      continue;
    D.error(D.S.Parallel.Tp.Range.isValid() ? D.S.Parallel.Tp.Range : Use.Range,
            diag::LayerIndivisible, Use.Kind, nameIn(F.Path, T.Name), Row.Name,
            Columns.value(), "not a multiple", namesOf(Row.ParamAxes),
            Ranks->value())
        .note(T.Range.isValid() ? T.Range : caller(), diag::RequiredHere);
  }
}

void Deriver::LayerRules::checkExtents(const layers::Tensor &T, Frame &F) {
  // The library's attention and networks have requirements of their own.
  if (IsShipped)
    return;
  for (const Node &Dim : T.Dims)
    if (isGood() && !D.Failed)
      checkExtent(Dim, nameIn(F.Path, T.Name), F);
}

/// Returns whether two tensors differ in their last dimension only.
static bool areBesides(const Value &A, const Value &B) {
  const bool AreAlike =
      (A.Kind == ValueKind::Param) == (B.Kind == ValueKind::Param);
  return AreAlike && !A.Type.Dims.empty() && !B.Type.Dims.empty() &&
         llvm::equal(llvm::drop_end(A.Type.Dims), llvm::drop_end(B.Type.Dims),
                     [](const Dim &L, const Dim &R) {
                       return L.Kind == R.Kind && L.Size == R.Size;
                     });
}

/// Bytes of tensors side by side, in fp32, over all ranks of a stage.
Expr Deriver::LayerRules::bytesOf(llvm::ArrayRef<const Value *> Tensors) {
  constexpr int64_t BytesOfFloat = 4;
  const Value &First = *Tensors.front();
  llvm::SmallVector<ExprId, 8> Widths;
  for (const Value *V : Tensors)
    if (!llvm::is_contained(Widths, V->Type.Dims.back().Size))
      Widths.push_back(V->Type.Dims.back().Size);
  Expr Bytes = sumOf(D.Program, Widths) * BytesOfFloat;
  const Dim *Spread = nullptr; // the most loaded rank has slots for all
  for (const Dim &Each : llvm::drop_end(First.Type.Dims)) {
    const Expr Extent(D.Program.Sizes, Each.Size);
    if (isSpread(D.Program, Each))
      Spread = &Each;
    else
      Bytes = Bytes * (Spread && Each.Kind == DimKind::Slots
                           ? slotsWithLoad(D.Program, Extent, *Spread)
                           : Extent);
  }
  return First.Kind == ValueKind::Param ? Bytes : Bytes * D.of(D.S.Parallel.Dp);
}

/// No tensor has 2^63 bytes or more over all ranks of a stage: the passes after
/// this multiply extents without looking. Those that differ in their width are
/// checked together, since a sweep checks each of its points. The largest key
/// is to blame.
void Deriver::LayerRules::checkSizes() {
  llvm::SmallVector<llvm::SmallVector<const Value *, 8>, 8> Groups;
  for (const Value &V : block().Values) {
    if (V.Type.Dims.empty())
      continue;
    auto *Group = llvm::find_if(
        Groups, [&](const auto &G) { return areBesides(*G.front(), V); });
    if (Group == Groups.end())
      Group = &Groups.emplace_back();
    Group->push_back(&V);
  }
  for (llvm::ArrayRef<const Value *> Group : Groups) {
    const Expr Bytes = bytesOf(Group);
    if (D.ask({Check::Kind::Existence, Bytes, 0, diag::SizeOverflow}))
      continue;
    const Value *const *Largest = llvm::find_if(
        Group, [&](const Value *V) { return !bytesOf(V).hasValue(); });
    const Value &V = Largest == Group.end() ? *Group.front() : **Largest;
    const Located<int64_t> *Key = D.largestIn(Bytes);
    const SourceRange At = Key ? Key->Range : Use.Range;
    if (D.Blamed.insert(At.start()).second)
      D.error(At, diag::SizeOverflow, "the size of `" + V.Name + "`");
    return;
  }
}
