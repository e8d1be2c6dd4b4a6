// SPDX-License-Identifier: Apache-2.0
#include "frontend/sweep/SweepSpec.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <set>

using namespace foretrace;

std::vector<size_t> SweepSpec::metricsRead() const {
  std::set<size_t> Found;
  auto AddLeaves = [&](ir::ExprId Of) {
    for (const ir::Key K : leavesOf(Of))
      if (K.Id == ir::KeyId::SweepMetric)
        Found.insert(K.Block);
  };
  for (const Condition &C : Conditions)
    AddLeaves(C.Holds);
  for (const Metric &M : Metrics)
    AddLeaves(M.Of);
  for (const Goal &G : By)
    Found.insert(G.Metric);
  if (Best)
    Found.insert(Best->Metric);
  return {Found.begin(), Found.end()};
}

std::vector<size_t> SweepSpec::axesOfKeys() const {
  std::vector<size_t> Of;
  for (const auto &[Index, A] : llvm::enumerate(Axes))
    Of.insert(Of.end(), A.Keys.size(), Index);
  return Of;
}

std::vector<ir::Key> SweepSpec::leavesOf(ir::ExprId E) const {
  std::vector<ir::Key> Leaves;
  llvm::BitVector Seen(static_cast<unsigned>(Sizes.size()));
  llvm::SmallVector<ir::ExprId, 16> Left = {E};
  while (!Left.empty()) {
    const ir::ExprId At = Left.pop_back_val();
    if (Seen.test(At.Index))
      continue;
    Seen.set(At.Index);
    const ir::ExprNode &N = Sizes[At];
    if (N.Op == ir::ExprOp::Key)
      Leaves.push_back(N.Key);
    for (const ir::ExprId Operand : {N.Right, N.Left})
      if (Operand.isValid())
        Left.push_back(Operand);
  }
  return Leaves;
}

std::optional<std::vector<size_t>> SweepSpec::axesOf(ir::ExprId E) const {
  const std::vector<size_t> OfKeys = axesOfKeys();
  std::vector<size_t> Found;
  for (const ir::Key K : leavesOf(E)) {
    if (K.Id != ir::KeyId::SweepAxis)
      return std::nullopt;
    Found.push_back(OfKeys[K.Block]);
  }
  llvm::sort(Found);
  Found.erase(llvm::unique(Found), Found.end());
  return Found;
}

SweepSpec::Combinations::Combinations(const SweepSpec &S,
                                      llvm::ArrayRef<ir::ExprId> Of)
    : Code(S.Sizes, Of), Row(Code) {
  unsigned Key = 0;
  for (const Axis &A : S.Axes) {
    Digit D = {A.size(), {}};
    for (const SweepSpec::Key &K : A.Keys)
      if (const auto Leaf = Code.findLeaf(axisKey(Key++)))
        D.Leaves.push_back({*Leaf, &K.Numbers});
    if (D.Leaves.empty())
      continue;
    Size = llvm::SaturatingMultiply(Size, D.Size);
    Digits.push_back(std::move(D));
  }
  set();
}

void SweepSpec::Combinations::set() {
  Row.restart();
  size_t Rest = Position;
  for (const Digit &D : Digits) {
    for (const Digit::Leaf &L : D.Leaves)
      Row.set(L.Index, (*L.Numbers)[Rest % D.Size]);
    Rest /= D.Size;
  }
}

void SweepSpec::Combinations::next() {
  if (++Position != Size)
    set();
}
