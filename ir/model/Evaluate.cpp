// SPDX-License-Identifier: Apache-2.0
#include "ir/model/Evaluate.h"
#include "ir/model/RealExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::ir;

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

/// Returns whether \p Out has no value, and is zero. The frequent operations
/// are here so that they are part of the loop.
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
    if (Step.Op == ExprOp::Call) {
      const ExprCode::Call &C = Code.calls()[Step.Left];
      llvm::SmallVector<int64_t, 16> Operands;
      for (const unsigned Slot : C.Operands)
        Operands.push_back(S[Slot]);
      S[Step.Out] = applyCall(*C.Of, Operands);
      continue;
    }
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

ColumnEvaluator::ColumnEvaluator(const ExprCode &Code,
                                 std::shared_ptr<Storage> In)
    : Code(Code), In(std::move(In)), IsWritten(Code.leaves().size()),
      Ranges(Code.slots()) {
  for (const ExprCode::Constant &C : Code.constants())
    Ranges[C.Slot] = {C.Value, C.Value};
}

/// Takes the storage over from another evaluator.
void ColumnEvaluator::begin() {
  if (In->User == this)
    return;
  if (In->Slots < Code.slots()) {
    In->Columns.reset(new Column[Code.slots()]);
    In->Slots = Code.slots();
  }
  In->User = this;
  IsWritten.assign(IsWritten.size(), false);
  Filled = 0;
}

/// Gives the first \p Count rows what is the same in all of them.
void ColumnEvaluator::fill(size_t Count) {
  if (Filled >= Count)
    return;
  auto Fill = [&](Column &Of, int64_t Value) {
    std::fill(Of.begin() + Filled, Of.begin() + Count, Value);
  };
  for (const auto &[Slot, L] : llvm::enumerate(Code.leaves()))
    if (!IsWritten[Slot])
      Fill(In->Columns[Slot], L.Value);
  for (const ExprCode::Constant &C : Code.constants())
    Fill(In->Columns[C.Slot], C.Value);
  Filled = Count;
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

/// Computes rows that may have no result; these are flagged and set to zero.
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

/// Returns the bounds of \p Op applied to numbers within \p L and \p R; nothing
/// if they exceed 63 bits.
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
  if (Op == ExprOp::RealNanoseconds || Op == ExprOp::RealRound)
    for (size_t I = 0; I < Count; ++I) {
      const bool IsMissing = Out[I] == NoValue;
      Missing[I] |= static_cast<unsigned char>(IsMissing);
      Out[I] = IsMissing ? 0 : Out[I];
    }
}

/// Operations of integers alone ask for bounds.
Bounds boundsOfReal(ExprOp Op, const Column &Out, size_t Count) {
  return Op == ExprOp::RealNanoseconds || Op == ExprOp::RealRound ||
                 Op == ExprOp::RealLess
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

/// Returns bounds of quotients and remainders of numbers from 0 on, including
/// those that do not exist.
static Bounds boundsOfQuotient(ExprOp Op, Bounds L, Bounds R) {
  if (Op == ExprOp::Mod)
    return {0, R.Most - 1};
  return {0, L.Most / R.Least + (Op == ExprOp::Ceil)};
}

ColumnEvaluator::Bounds ColumnEvaluator::compute(const ExprCode::Step &S,
                                                 size_t Count) {
  if (S.Op == ExprOp::Call)
    return call(S, Count);
  const Column &L = In->Columns[S.Left], &R = In->Columns[S.Right];
  const Bounds OfL = Ranges[S.Left], OfR = Ranges[S.Right];
  Column &Out = In->Columns[S.Out];
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
  case ExprOp::Argument:
  case ExprOp::Call:
    llvm_unreachable("no step of two operands");
  }
  forEachRow(Count, L, R, Out, Missing,
             [Op = S.Op](int64_t L, int64_t R, int64_t &Out) {
               return computeRow(Op, L, R, Out);
             });
  return boundsOf(Out, Count);
}

ColumnEvaluator::Bounds ColumnEvaluator::call(const ExprCode::Step &S,
                                              size_t Count) {
  const ExprCode::Call &C = Code.calls()[S.Left];
  llvm::SmallVector<int64_t, 16> Operands(C.Operands.size());
  for (size_t Row = 0; Row < Count; ++Row) {
    for (const auto &[Operand, Slot] : llvm::zip_equal(Operands, C.Operands))
      Operand = In->Columns[Slot][Row];
    // A row that lacks an operand has been flagged, and an arbitrary result.
    const int64_t Value = Missing[Row] ? 0 : applyCall(*C.Of, Operands);
    Missing[Row] |= static_cast<unsigned char>(Value == NoValue);
    In->Columns[S.Out][Row] = Value == NoValue ? 0 : Value;
  }
  return boundsOf(In->Columns[S.Out], Count);
}

void ColumnEvaluator::run(size_t Count) {
  if (Count == 0)
    return; // columns without rows are within no bounds
  Missing.fill(Code.isMissing());
  begin();
  fill(Count);
  for (size_t Leaf = 0; Leaf < Code.leaves().size(); ++Leaf)
    Ranges[Leaf] = boundsOf(In->Columns[Leaf], Count);
  for (const ExprCode::Step &S : Code.steps())
    Ranges[S.Out] = compute(S, Count);
}
