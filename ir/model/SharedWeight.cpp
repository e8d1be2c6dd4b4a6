// SPDX-License-Identifier: Apache-2.0
#include "ir/model/SharedWeight.h"
#include "llvm/ADT/STLExtras.h"
#include <functional>

using namespace foretrace;
using namespace foretrace::ir;

AxisList foretrace::ir::sharedAxes(const Layout &L) {
  AxisList Shared;
  for (const Axis A : allAxes())
    if (L.isFlat(A))
      Shared.push_back(A);
  return Shared;
}

static Layout unshared(Layout L) {
  for (const Axis A : sharedAxes(L))
    L.setWhole(A);
  return L;
}

/// Returns the dimension of rows, the outputs of a linear layer: the first one
/// in PyTorch, but the last one here.
static size_t rowsOf(const TensorType &T) {
  if (T.Dims.size() != 2)
    return 0;
  const DimKind First = T.Dims.front().Kind;
  return First == DimKind::Vocab || First == DimKind::Position ||
                 First == DimKind::Whole
             ? 0
             : 1;
}

SharedWeight::SharedWeight(ExprScope P, const TensorType &T, const Layout &L)
    : P(P), T(T), Whole(unshared(L)), Ranks(sizeOf(P, sharedAxes(L))) {}

/// Elements of one index of \p Dim.
Expr SharedWeight::others(size_t Dim) const {
  llvm::SmallVector<ExprId, 4> Extents;
  for (size_t I = 0; I < T.Dims.size(); ++I)
    if (I != Dim)
      Extents.push_back(extent(I));
  return productOf(P, Extents);
}

/// Heads of queries, of keys and of values, and the two halves of a gated
/// network, are outputs of one linear layer here, as in Megatron-LM, and
/// parameters of their own elsewhere. They are terms of the extent. Returns the
/// extent of each, and how often it is there.
SharedWeight::Parts SharedWeight::partsOf(size_t Dim) const {
  const ir::Dim &D = T.Dims[Dim];
  const bool HasParts = D.Kind == DimKind::Heads || D.Kind == DimKind::Ffn ||
                        D.Kind == DimKind::ExpertFfn;
  if (!HasParts)
    return {{extent(Dim), 1}};
  const AxisList Split = axesSplitting(P, T, Whole, Dim);
  Parts All;
  P.Sizes.forEachTerm(D.Size, [&](ExprId Term, int64_t Times) {
    const Expr Part(P.Sizes, Term);
    All.emplace_back(Split.empty() ? Part : Part / sizeOf(P, Split), Times);
  });
  return All;
}

Expr SharedWeight::sumOfParts(size_t Dim,
                              llvm::function_ref<Expr(Expr)> Each) const {
  Expr Sum = numberOf(P, 0);
  for (const auto &[Part, Times] : partsOf(Dim))
    Sum += Each(Part) * Times;
  return Sum;
}

/// Elements of all parts, the largest first.
llvm::SmallVector<int64_t, 3> SharedWeight::elementsOfParts() const {
  const size_t Rows = rowsOf(T);
  llvm::SmallVector<int64_t, 3> Sizes;
  for (const auto &[Part, Times] : partsOf(Rows))
    Sizes.append(static_cast<size_t>(Times), (Part * others(Rows)).value());
  llvm::sort(Sizes, std::greater<>());
  return Sizes;
}

Expr SharedWeight::byPart(llvm::function_ref<Expr(Expr)> Each) const {
  const size_t Rows = rowsOf(T);
  const Expr Row = others(Rows);
  return sumOfParts(Rows, [&](Expr Extent) { return Each(Extent * Row); });
}

Expr SharedWeight::columns() const {
  if (T.Dims.size() < 2)
    return numberOf(P, 1);
  const bool IsOfExpert = T.Dims.front().Kind == DimKind::Expert;
  if (IsOfExpert)
    return T.Dims.size() == 3 ? extent(1) : numberOf(P, 1);
  return others(rowsOf(T));
}

/// Ranks have whole rows (torch/distributed/fsdp/_fully_shard/_fsdp_param.py,
/// _init_sharded_param), of experts whole ones or, if there are fewer than
/// ranks, rows of each (torchtitan, distributed/fsdp.py,
/// apply_fsdp_to_decoder, Shard(1) of w1_EFD and w2_EDF).
Expr SharedWeight::byRows() const {
  auto SharesOf = [&](Expr Extent) { return ceilDiv(Extent, Ranks); };
  if (T.Dims.size() != 3 || T.Dims.front().Kind != DimKind::Expert) {
    const size_t Rows = rowsOf(T);
    return sumOfParts(Rows, SharesOf) * others(Rows);
  }
  const Expr Experts = extent(0), IsFewer = less(Experts, Ranks);
  const Expr OfEach = sumOfParts(2, SharesOf) * extent(1) * Experts;
  const Expr OfWhole = SharesOf(Experts) * others(0);
  return OfEach * IsFewer + OfWhole * (IsFewer * -1 + int64_t(1));
}
