// SPDX-License-Identifier: Apache-2.0
#include "ir/model/Evaluate.h"
#include "ir/model/RealExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
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

/// A key that follows from others is its definition.
static ExprId definitionOf(const ExprTable &T, ExprId I) {
  while (T[I].Op == ExprOp::Key && !isLeaf(T, I))
    I = T[I].Left;
  return I;
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
    if (const ExprNode &N = T[ExprId(I)];
        LastUse[I] != Never && N.Op != ExprOp::Key && N.Left.isValid()) {
      Use(N.Left, I);
      if (N.Right.isValid())
        Use(N.Right, I);
    }

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
    const ExprId Left = definitionOf(T, N.Left),
                 Right = N.Right.isValid() ? definitionOf(T, N.Right) : Left;
    SlotOf[I] = Slots.take();
    Steps.push_back({N.Op, SlotOf[I], SlotOf[Left.Index], SlotOf[Right.Index]});
    StepsUntil[I] = static_cast<unsigned>(Steps.size());
    for (const ExprId Operand : {Left, Right})
      if (LastUse[Operand.Index] == I && T[Operand].Op != ExprOp::Key &&
          !isConstant(T, Operand)) {
        Slots.release(SlotOf[Operand.Index]);
        LastUse[Operand.Index] = Always; // released once, if it is both
      }
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

RowEvaluator::RowEvaluator(const ExprCode &Code)
    : Code(Code), Slots(Code.slots()) {
  for (const auto &[Slot, L] : llvm::enumerate(Code.leaves()))
    Slots[Slot] = L.Value;
  for (const ExprCode::Constant &C : Code.constants())
    Slots[C.Slot] = C.Value;
}

namespace {

/// Integers up to here are reals without rounding.
constexpr int64_t MaxExactReal = int64_t(1) << 53;

/// Rounded down, by a division of reals, which several fit into a register; of
/// numbers that are reals without rounding.
int64_t quotientOfReals(int64_t L, int64_t R) {
  const auto Q =
      static_cast<int64_t>(static_cast<double>(L) / static_cast<double>(R));
  return Q - (Q * R > L);
}

/// A quotient of such numbers; whether there is a rest, and zero then.
bool divideReals(int64_t L, int64_t R, int64_t &Out) {
  const int64_t Q = quotientOfReals(L, R);
  const bool HasRest = Q * R != L;
  Out = HasRest ? 0 : Q;
  return HasRest;
}

/// Whether there is no result; it is zero then. The frequent operations stand
/// here so that they are part of the loop.
inline bool computeRow(ExprOp Op, int64_t L, int64_t R, int64_t &Out) {
  bool IsMissing = false;
  switch (Op) {
  case ExprOp::Add:
    IsMissing = __builtin_add_overflow(L, R, &Out);
    break;
  case ExprOp::Mul:
    IsMissing = __builtin_mul_overflow(L, R, &Out);
    break;
  case ExprOp::Div:
    if (L >= 0 && L < MaxExactReal && R > 0 && R < MaxExactReal)
      return divideReals(L, R, Out);
    [[fallthrough]];
  default:
    Out = applyExprOp(Op, L, R);
    IsMissing = Out == NoValue;
  }
  Out = IsMissing ? 0 : Out;
  return IsMissing;
}

} // namespace

void RowEvaluator::compute(size_t Steps) {
  int64_t *const S = Slots.data();
  for (; Done < Steps; ++Done) {
    const ExprCode::Step &Step = Code.steps()[Done];
    const int64_t L = S[Step.Left], R = S[Step.Right];
    int64_t &Out = S[Step.Out];
    if (L == NoValue || R == NoValue || computeRow(Step.Op, L, R, Out))
      Out = NoValue;
  }
}

bool RowEvaluator::run() {
  compute(Code.steps().size());
  return llvm::none_of(Code.results(),
                       [&](unsigned Slot) { return Slots[Slot] == NoValue; });
}

ColumnEvaluator::ColumnEvaluator(const ExprCode &Code)
    : Code(Code), Columns(new Column[Code.slots()]), Ranges(Code.slots()) {
  for (const auto &[Slot, L] : llvm::enumerate(Code.leaves()))
    Columns[Slot].fill(L.Value);
  for (const ExprCode::Constant &C : Code.constants())
    Ranges[C.Slot] = {C.Value, C.Value};
}

namespace {

using Column = ColumnEvaluator::Column;
using RowFlags = ColumnEvaluator::RowFlags;
using Bounds = ColumnEvaluator::Bounds;

/// Rows of \p Out from those of \p L and \p R. Kept apart so that compilers
/// see plain loops.
template <typename FnT>
void forEachRow(size_t Count, const Column &L, const Column &R, Column &Out,
                FnT Compute) {
  for (size_t I = 0; I < Count; ++I)
    Out[I] = Compute(L[I], R[I]);
}

/// The same where a row may have no result; it is flagged, and zero then.
template <typename FnT>
void forEachRow(size_t Count, const Column &L, const Column &R, Column &Out,
                RowFlags &Missing, FnT Compute) {
  for (size_t I = 0; I < Count; ++I)
    Missing[I] |= static_cast<unsigned char>(Compute(L[I], R[I], Out[I]));
}

/// Wrapping arithmetic, for what can't wrap.
int64_t plainAdd(int64_t L, int64_t R) {
  return static_cast<int64_t>(static_cast<uint64_t>(L) +
                              static_cast<uint64_t>(R));
}
int64_t plainMul(int64_t L, int64_t R) {
  return static_cast<int64_t>(static_cast<uint64_t>(L) *
                              static_cast<uint64_t>(R));
}

Bounds boundsOf(const Column &C, size_t Count) {
  Bounds B = {INT64_MAX, INT64_MIN};
  for (size_t I = 0; I < Count; ++I) {
    B.Least = std::min(B.Least, C[I]);
    B.Most = std::max(B.Most, C[I]);
  }
  return B;
}

/// What \p Op of numbers within \p L and \p R is within; nothing if that is
/// more than 63 bits have.
std::optional<Bounds> boundsOf(ExprOp Op, Bounds L, Bounds R) {
  using Wide = __int128;
  const Wide Corners[] = {Wide(L.Least) * R.Least, Wide(L.Least) * R.Most,
                          Wide(L.Most) * R.Least, Wide(L.Most) * R.Most};
  const bool IsSum = Op == ExprOp::Add;
  const Wide Least = IsSum ? Wide(L.Least) + R.Least
                           : *std::min_element(Corners, std::end(Corners));
  const Wide Most = IsSum ? Wide(L.Most) + R.Most
                          : *std::max_element(Corners, std::end(Corners));
  if (Least <= INT64_MIN || Most > INT64_MAX)
    return std::nullopt;
  return Bounds{static_cast<int64_t>(Least), static_cast<int64_t>(Most)};
}

/// A loop for each operation.
template <ExprOp Op>
void computeReals(size_t Count, const Column &L, const Column &R, Column &Out,
                  RowFlags &Missing) {
  for (size_t I = 0; I < Count; ++I)
    Out[I] = applyRealOp(Op, L[I], R[I]);
  if (Op == ExprOp::RealNanoseconds)
    for (size_t I = 0; I < Count; ++I) {
      const bool IsMissing = Out[I] == NoValue;
      Missing[I] |= static_cast<unsigned char>(IsMissing);
      Out[I] = IsMissing ? 0 : Out[I];
    }
}

/// Operations of integers alone ask for bounds.
Bounds boundsOfReal(ExprOp Op, const Column &Out, size_t Count) {
  return Op == ExprOp::RealNanoseconds || Op == ExprOp::RealLess
             ? boundsOf(Out, Count)
             : Bounds{0, 0};
}

void divideColumns(ExprOp Op, size_t Count, const Column &L, const Column &R,
                   Column &Out, RowFlags &Missing) {
  switch (Op) {
  case ExprOp::Div:
    forEachRow(Count, L, R, Out, Missing, [](int64_t L, int64_t R, int64_t &Q) {
      return divideReals(L, R, Q);
    });
    return;
  case ExprOp::Floor:
    return forEachRow(Count, L, R, Out, quotientOfReals);
  case ExprOp::Ceil:
    forEachRow(Count, L, R, Out, [](int64_t L, int64_t R) {
      const int64_t Q = quotientOfReals(L, R);
      return Q + (Q * R != L);
    });
    return;
  case ExprOp::Mod:
    forEachRow(Count, L, R, Out, [](int64_t L, int64_t R) {
      return L - quotientOfReals(L, R) * R;
    });
    return;
  default:
    llvm_unreachable("not a quotient");
  }
}

} // namespace

/// What quotients and rests of numbers from 0 are within, those that do not
/// exist included.
static Bounds boundsOfQuotient(ExprOp Op, Bounds L, Bounds R) {
  if (Op == ExprOp::Mod)
    return {0, R.Most - 1};
  return {0, L.Most / R.Least + (Op == ExprOp::Ceil)};
}

ColumnEvaluator::Bounds ColumnEvaluator::compute(const ExprCode::Step &S,
                                                 size_t Count) {
  const Column &L = Columns[S.Left], &R = Columns[S.Right];
  const Bounds OfL = Ranges[S.Left], OfR = Ranges[S.Right];
  Column &Out = Columns[S.Out];
  switch (S.Op) {
  case ExprOp::Add:
  case ExprOp::Mul:
    if (const auto OfOut = boundsOf(S.Op, OfL, OfR)) {
      if (S.Op == ExprOp::Add)
        forEachRow(Count, L, R, Out, plainAdd);
      else
        forEachRow(Count, L, R, Out, plainMul);
      return *OfOut;
    }
    break;
  case ExprOp::Div:
  case ExprOp::Floor:
  case ExprOp::Ceil:
  case ExprOp::Mod:
    if (OfL.Least >= 0 && OfL.Most < MaxExactReal && OfR.Least > 0 &&
        OfR.Most < MaxExactReal) {
      divideColumns(S.Op, Count, L, R, Out, Missing);
      return boundsOfQuotient(S.Op, OfL, OfR);
    }
    break;
  case ExprOp::Min:
    forEachRow(Count, L, R, Out,
               [](int64_t L, int64_t R) { return std::min(L, R); });
    return {std::min(OfL.Least, OfR.Least), std::min(OfL.Most, OfR.Most)};
  case ExprOp::Max:
    forEachRow(Count, L, R, Out,
               [](int64_t L, int64_t R) { return std::max(L, R); });
    return {std::max(OfL.Least, OfR.Least), std::max(OfL.Most, OfR.Most)};
  case ExprOp::Less:
    forEachRow(Count, L, R, Out,
               [](int64_t L, int64_t R) -> int64_t { return L < R; });
    return {0, 1};
  case ExprOp::Equal:
    forEachRow(Count, L, R, Out,
               [](int64_t L, int64_t R) -> int64_t { return L == R; });
    return {0, 1};
  case ExprOp::Lcm:
    break;
#define EXPR_OP(...)
#define REAL_OP(ENUMERATOR, ...)                                               \
  case ExprOp::ENUMERATOR:                                                     \
    computeReals<ExprOp::ENUMERATOR>(Count, L, R, Out, Missing);               \
    return boundsOfReal(S.Op, Out, Count);
#include "ir/model/Exprs.def"
  case ExprOp::Constant:
  case ExprOp::RealConstant:
  case ExprOp::Key:
    llvm_unreachable("no step");
  }
  forEachRow(Count, L, R, Out, Missing,
             [Op = S.Op](int64_t L, int64_t R, int64_t &Out) {
               return computeRow(Op, L, R, Out);
             });
  return boundsOf(Out, Count);
}

void ColumnEvaluator::run(size_t Count) {
  if (Count == 0)
    return; // columns without rows are within no bounds
  Missing.fill(Code.isMissing());
  if (Filled < Count) {
    for (const ExprCode::Constant &C : Code.constants())
      std::fill(Columns[C.Slot].begin() + Filled,
                Columns[C.Slot].begin() + Count, C.Value);
    Filled = Count;
  }
  for (size_t Leaf = 0; Leaf < Code.leaves().size(); ++Leaf)
    Ranges[Leaf] = boundsOf(Columns[Leaf], Count);
  for (const ExprCode::Step &S : Code.steps())
    Ranges[S.Out] = compute(S, Count);
}
