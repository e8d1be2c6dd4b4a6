// SPDX-License-Identifier: Apache-2.0
//
// Compiles expressions into the steps that evaluators run.
#include "ir/model/Evaluate.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// Gives expressions their slots.
class SlotAllocator {
public:
  unsigned take() {
    if (Free.empty())
      return Count++;
    const unsigned Slot = Free.back();
    Free.pop_back();
    return Slot;
  }
  void release(unsigned Slot) { Free.push_back(Slot); }
  unsigned count() const { return Count; }

private:
  std::vector<unsigned> Free;
  unsigned Count = 0;
};

} // namespace

/// Numbers of a stage, say, are defined by what was counted for it.
static bool isLeaf(const ExprTable &T, ExprId I) {
  return T[I].Op == ExprOp::Key &&
         (!T[I].Left.isValid() || T.constantAt(T[I].Left));
}

static bool isConstant(const ExprTable &T, ExprId I) {
  return T[I].Op == ExprOp::Constant || T[I].Op == ExprOp::RealConstant;
}

/// Returns the definition of a key that follows from others.
static ExprId definitionOf(const ExprTable &T, ExprId I) {
  while (T[I].Op == ExprOp::Key && !isLeaf(T, I))
    I = T[I].Left;
  return I;
}

/// Returns the operands that the step of \p I reads.
static llvm::SmallVector<ExprId, 8> operandsOf(const ExprTable &T, ExprId I) {
  const ExprNode &N = T[I];
  if (N.Op == ExprOp::Call)
    return T.operandsOf(N);
  if (N.Op == ExprOp::Key || !N.Left.isValid())
    return {};
  return N.Right.isValid() ? llvm::SmallVector<ExprId, 8>{N.Left, N.Right}
                           : llvm::SmallVector<ExprId, 8>{N.Left};
}

ExprCode::ExprCode(const ExprTable &T, llvm::ArrayRef<ExprId> Wanted) {
  constexpr unsigned Never = 0, Always = ~0u;
  // By expression: the last one that reads it.
  std::vector<unsigned> LastUse(T.size(), Never);
  for (const ExprId W : Wanted)
    LastUse[definitionOf(T, W).Index] = Always;
  auto Use = [&](ExprId Operand, unsigned By) {
    unsigned &Last = LastUse[definitionOf(T, Operand).Index];
    Last = std::max(Last, By);
  };
  for (unsigned I = static_cast<unsigned>(T.size()); I-- > 0;)
    if (LastUse[I] != Never)
      for (const ExprId Operand : operandsOf(T, ExprId(I)))
        Use(Operand, I);

  SlotAllocator Slots;
  std::vector<unsigned> SlotOf(T.size());
  for (unsigned I = 0; I < T.size(); ++I) {
    const ExprNode &N = T[ExprId(I)];
    if (LastUse[I] == Never)
      continue;
    if (isLeaf(T, ExprId(I))) {
      SlotOf[I] = Slots.take();
      Leaves.push_back({N.Key, T.value(ExprId(I))});
    }
  }
  for (unsigned I = 0; I < T.size(); ++I)
    if (isConstant(T, ExprId(I)) && LastUse[I] != Never) {
      SlotOf[I] = Slots.take();
      Constants.push_back({SlotOf[I], T[ExprId(I)].Value});
      IsMissing |= T[ExprId(I)].Value == NoValue;
    }
  std::vector<unsigned> StepsUntil(T.size());
  for (unsigned I = 0; I < T.size(); ++I) {
    const ExprNode &N = T[ExprId(I)];
    if (LastUse[I] == Never || N.Op == ExprOp::Key || isConstant(T, ExprId(I)))
      continue;
    SlotOf[I] = Slots.take();
    llvm::SmallVector<unsigned, 8> From;
    for (const ExprId Operand : operandsOf(T, ExprId(I))) {
      const ExprId Of = definitionOf(T, Operand);
      From.push_back(SlotOf[Of.Index]);
      if (LastUse[Of.Index] == I && T[Of].Op != ExprOp::Key &&
          !isConstant(T, Of)) {
        Slots.release(SlotOf[Of.Index]);
        LastUse[Of.Index] = Always; // so that it is not released twice
      }
    }
    if (N.Op == ExprOp::Call) {
      const auto Number = static_cast<unsigned>(Calls.size());
      Steps.push_back({N.Op, SlotOf[I], Number, Number});
      Calls.push_back({&N.function(), std::move(From)});
    } else {
      Steps.push_back({N.Op, SlotOf[I], From.front(), From.back()});
    }
    StepsUntil[I] = static_cast<unsigned>(Steps.size());
  }
  for (const ExprId W : Wanted) {
    const unsigned Of = definitionOf(T, W).Index;
    Results.push_back(SlotOf[Of]);
    Ready.push_back(StepsUntil[Of]);
  }
  NumSlots = Slots.count();
}

std::optional<size_t> ExprCode::findLeaf(Key K) const {
  auto It = llvm::find_if(Leaves, [&](const Leaf &L) { return L.Key == K; });
  return It == Leaves.end() ? std::nullopt
                            : std::optional<size_t>(It - Leaves.begin());
}
