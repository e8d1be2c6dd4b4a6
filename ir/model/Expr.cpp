// SPDX-License-Identifier: Apache-2.0
#include "ir/model/Expr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::ir;

ExprTable::ExprTable() = default;
ExprTable::ExprTable(const ExprTable *Below)
    : Below(Below), NumBelow(static_cast<unsigned>(Below->size())) {}
ExprTable::ExprTable(const ExprTable &) = default;
ExprTable::ExprTable(ExprTable &&) noexcept = default;
ExprTable &ExprTable::operator=(const ExprTable &) = default;
ExprTable &ExprTable::operator=(ExprTable &&) noexcept = default;
ExprTable::~ExprTable() = default;

static int64_t pack(Key K) {
  assert(K.Block <= Key::NoBlock && K.Stage < 1u << 16 && K.Slot < 1u << 12 &&
         static_cast<unsigned>(K.Id) < 1u << 11 && "more than a job has");
  return ((static_cast<int64_t>(K.Id) << 24 | K.Block) << 16 | K.Stage) << 12 |
         K.Slot;
}

int64_t ExprTable::compute(const ExprNode &N) const {
  switch (N.Op) {
  case ExprOp::Constant:
  case ExprOp::RealConstant:
    return N.Value;
  case ExprOp::Key:
    return N.Left.isValid() ? value(N.Left) : N.Value;
  case ExprOp::Argument:
    return 0;
  case ExprOp::Call: {
    llvm::SmallVector<int64_t, 8> Operands;
    for (const ExprId Operand : operandsOf(N))
      Operands.push_back(value(Operand));
    return applyCall(N.function(), Operands);
  }
  default:
    return applyExprOp(N.Op, value(N.Left),
                       N.Right.isValid() ? value(N.Right) : 0);
  }
}

/// Names of real constants are of no stage, and of no slot.
static unsigned nameOf(const ExprNode &Real) {
  return static_cast<unsigned>(Real.Key.Id) << 16 | (Real.Key.Block & 0xffff);
}

/// A key is the same whatever its value and definition are.
ExprId ExprTable::unique(ExprNode N) {
  const bool IsKey = N.Op == ExprOp::Key;
  const Content C = {static_cast<unsigned>(N.Op), IsKey ? pack(N.Key) : N.Value,
                     IsKey                          ? 0
                     : N.Op == ExprOp::RealConstant ? nameOf(N)
                                                    : N.Left.Index,
                     IsKey ? 0 : N.Right.Index};
  if (const std::optional<ExprId> Before =
          Below ? Below->find(C) : std::nullopt)
    return *Before;
  auto [It, IsNew] = Known.try_emplace(C);
  if (IsNew) {
    It->second = ExprId(static_cast<unsigned>(size()));
    Values.push_back(compute(N));
    Nodes.add(N);
  }
  return It->second;
}

std::optional<ExprId> ExprTable::find(const Content &C) const {
  if (const std::optional<ExprId> Before =
          Below ? Below->find(C) : std::nullopt)
    return Before;
  const auto It = Known.find(C);
  return It == Known.end() ? std::nullopt : std::optional(It->second);
}

ExprId ExprTable::constant(int64_t Value) {
  return unique({ExprOp::Constant, Value});
}

ExprId ExprTable::key(Key K, int64_t Value) {
  return unique({ExprOp::Key, Value, K});
}

ExprId ExprTable::call(const ExprFunction &F, llvm::ArrayRef<ExprId> Operands) {
  ExprId List = constant(static_cast<int64_t>(Operands.size()));
  for (const ExprId Operand : Operands)
    List = unique({ExprOp::Argument, 0, {}, List, Operand});
  return unique({ExprOp::Call, reinterpret_cast<int64_t>(&F), {}, List});
}

llvm::SmallVector<ExprId, 8> ExprTable::operandsOf(const ExprNode &Call) const {
  llvm::SmallVector<ExprId, 8> Operands;
  for (ExprId I = Call.Left; (*this)[I].Op == ExprOp::Argument;
       I = (*this)[I].Left)
    Operands.push_back((*this)[I].Right);
  std::reverse(Operands.begin(), Operands.end());
  return Operands;
}

ExprId ExprTable::define(Key K, ExprId As) {
  return unique({ExprOp::Key, 0, K, As});
}

/// Makes an expression of \p From from its leaves; those in \p Made are as they
/// are.
ExprId ExprTable::rebuild(const ExprTable &From, ExprId Of,
                          llvm::DenseMap<unsigned, ExprId> &Made,
                          llvm::function_ref<ExprId(ExprId)> MakeLeaf) {
  // Operands precede the expressions that use them.
  for (llvm::SmallVector<ExprId, 16> Open = {Of}; !Open.empty();) {
    const ExprId I = Open.back();
    const ExprNode N = From[I]; // a copy, as the table may grow
    const bool IsLeaf = !N.Left.isValid();
    bool IsReady = true;
    for (const ExprId Operand : {N.Left, N.Right})
      if (Operand.isValid() && !IsLeaf && !Made.contains(Operand.Index)) {
        Open.push_back(Operand);
        IsReady = false;
      }
    if (!IsReady)
      continue;
    Open.pop_back();
    if (Made.contains(I.Index))
      continue;
    const ExprId L = IsLeaf ? ExprId() : Made[N.Left.Index];
    const ExprId R = N.Right.isValid() ? Made[N.Right.Index] : ExprId();
    if (IsLeaf)
      Made[I.Index] = MakeLeaf(I);
    else if (&From == this && L == N.Left && R == N.Right)
      Made[I.Index] = I;
    else
      Made[I.Index] = N.Op == ExprOp::Key ? L
                      : N.Op == ExprOp::Argument || N.Op == ExprOp::Call ||
                              N.Op >= ExprOp::Real // operations of reals
                          ? unique({N.Op, N.Value, N.Key, L, R})
                          : combine(N.Op, L, R);
  }
  return Made[Of.Index];
}

ExprId ExprTable::replace(ExprId Of, ExprId Leaf, ExprId With) {
  llvm::DenseMap<unsigned, ExprId> Made = {{Leaf.Index, With}};
  return rebuild(*this, Of, Made, [](ExprId I) { return I; });
}

ExprId ExprTable::graft(const ExprTable &From, ExprId Of) {
  llvm::DenseMap<unsigned, ExprId> Made;
  return rebuild(From, Of, Made, [&](ExprId I) {
    const ExprNode &N = From[I];
    return N.Op == ExprOp::Key ? key(N.Key, From.value(I)) : unique(N);
  });
}

void ExprTable::revalue(
    llvm::function_ref<std::optional<int64_t>(Key)> ValueOf) {
  assert(!Below && "others read its values");
  for (const auto &[N, Value] : llvm::zip_equal(Nodes, Values)) {
    const bool IsKey = N.Op == ExprOp::Key;
    if (const auto Known = IsKey ? ValueOf(N.Key) : std::nullopt)
      Value = *Known;
    else
      Value = IsKey && !N.Left.isValid() ? NoValue : compute(N);
  }
}

void ExprTable::extend(const ExprTable &Longer,
                       llvm::function_ref<int64_t(Key)> ValueOf) {
  assert(!Below && !Longer.Below && "both are whole tables");
  Known = Longer.Known;
  Nodes.reserve(Longer.size());
  Values.reserve(Longer.size());
  for (size_t I = Nodes.size(); I < Longer.size(); ++I) {
    ExprNode N = Longer[Nodes.idAt(I)];
    if (N.Op == ExprOp::Key && !N.Left.isValid())
      N.Value = ValueOf(N.Key);
    Values.push_back(compute(N));
    Nodes.add(N);
  }
}

std::optional<ExprId> ExprTable::find(Key K) const {
  return find(Content(static_cast<unsigned>(ExprOp::Key), pack(K), 0, 0));
}

std::optional<int64_t> ExprTable::constantAt(ExprId I) const {
  return (*this)[I].Op == ExprOp::Constant ? std::optional((*this)[I].Value)
                                           : std::nullopt;
}

/// An order of what expressions say, whenever they were made: constants, keys
/// as in ir/model/Spec.def, then the rest by their operands.
bool ExprTable::precedes(ExprId A, ExprId B) const {
  if (A == B)
    return false;
  const ExprNode &L = (*this)[A], &R = (*this)[B];
  if (L.Op != R.Op)
    return L.Op < R.Op;
  switch (L.Op) {
  case ExprOp::Constant:
    return L.Value < R.Value;
  case ExprOp::Key:
    return pack(L.Key) < pack(R.Key);
  default:
    return L.Left == R.Left ? precedes(L.Right, R.Right)
                            : precedes(L.Left, R.Left);
  }
}

/// Appends the factors of \p Of to \p Out; constants multiply \p Coefficient.
void ExprTable::factors(ExprId Of, Terms &Out, int64_t &Coefficient) const {
  for (; (*this)[Of].Op == ExprOp::Mul; Of = (*this)[Of].Left) {
    const ExprId Right = (*this)[Of].Right;
    if (const auto C = constantAt(Right))
      Coefficient = applyExprOp(ExprOp::Mul, Coefficient, *C);
    else
      Out.push_back(Right);
  }
  if (const auto C = constantAt(Of))
    Coefficient = applyExprOp(ExprOp::Mul, Coefficient, *C);
  else
    Out.push_back(Of);
}

/// Takes each of \p Needed out of \p From, if all are there.
static bool removeAll(llvm::SmallVectorImpl<ExprId> &From,
                      llvm::ArrayRef<ExprId> Needed) {
  llvm::SmallVector<ExprId, 8> Left(From.begin(), From.end());
  for (const ExprId N : Needed) {
    auto *It = llvm::find(Left, N);
    if (It == Left.end())
      return false;
    Left.erase(It);
  }
  From.assign(Left.begin(), Left.end());
  return true;
}

/// Takes away divisors of quotients among \p Factors that the others have.
void ExprTable::cancel(Terms &Factors, int64_t &Coefficient) const {
  for (size_t I = 0; I < Factors.size(); ++I) {
    const ExprNode &N = (*this)[Factors[I]];
    if (N.Op != ExprOp::Div)
      continue;
    Terms Divisor, Others = Factors;
    int64_t By = 1;
    factors(N.Right, Divisor, By);
    Others.erase(Others.begin() + static_cast<ptrdiff_t>(I));
    if (By == NoValue || By == 0 || Coefficient % By != 0 ||
        !removeAll(Others, Divisor))
      continue;
    Coefficient /= By;
    Factors = std::move(Others);
    factors(N.Left, Factors, Coefficient);
    I = SIZE_MAX; // the new factor may cancel earlier ones
  }
}

/// Multiplies \p Factors, none of which is one or a product.
ExprId ExprTable::product(Terms Factors, int64_t Coefficient) {
  if (Coefficient == 0)
    return constant(0);
  if (Factors.size() > 1 || Coefficient != 1)
    cancel(Factors, Coefficient);
  llvm::sort(Factors, [&](ExprId A, ExprId B) { return precedes(A, B); });
  if (Factors.empty())
    return constant(Coefficient);
  ExprId Out = Factors.front();
  for (const ExprId F : llvm::drop_begin(Factors))
    Out = unique({ExprOp::Mul, 0, {}, Out, F});
  return Coefficient == 1
             ? Out
             : unique({ExprOp::Mul, 0, {}, Out, constant(Coefficient)});
}

ExprId ExprTable::product(llvm::ArrayRef<ExprId> Of) {
  Terms Factors;
  int64_t Coefficient = 1;
  for (const ExprId F : Of)
    factors(F, Factors, Coefficient);
  return product(std::move(Factors), Coefficient);
}

/// Divides, after cancelling the common factors.
ExprId ExprTable::div(ExprId Left, ExprId Right) {
  if (constantAt(Right) == 1)
    return Left;
  Terms Above, Below, Rest;
  int64_t Times = 1, By = 1;
  factors(Left, Above, Times);
  factors(Right, Below, By);
  for (const ExprId F : Below)
    if (!removeAll(Above, F))
      Rest.push_back(F);
  if (Times != NoValue && By != NoValue && By > 0 && Times % By == 0) {
    Times /= By;
    By = 1;
  }
  const ExprId Numerator = product(std::move(Above), Times);
  if (Rest.empty() && By == 1)
    return Numerator;
  return combine(ExprOp::Div, Numerator, product(std::move(Rest), By));
}

ExprId ExprTable::combine(ExprOp Op, ExprId Left, ExprId Right) {
  const auto L = constantAt(Left), R = constantAt(Right);
  if (L && R)
    return constant(applyExprOp(Op, *L, *R));
  switch (Op) {
  case ExprOp::Add:
    return add(Left, Right);
  case ExprOp::Mul:
    return mul(Left, Right);
  case ExprOp::Floor:
  case ExprOp::Ceil:
    if (R == 1)
      return Left;
    break;
  case ExprOp::Min:
  case ExprOp::Max:
    if (Left == Right)
      return Left;
    if (precedes(Right, Left))
      std::swap(Left, Right);
    break;
  default:
    break;
  }
  return unique({Op, 0, {}, Left, Right});
}

/// Appends the summands of \p Of to \p Out; constants are added to \p Constant.
void ExprTable::summands(ExprId Of, Terms &Out, int64_t &Constant) const {
  auto Append = [&](ExprId S) {
    if (const auto C = constantAt(S))
      Constant = applyExprOp(ExprOp::Add, Constant, *C);
    else
      Out.push_back(S);
  };
  for (; (*this)[Of].Op == ExprOp::Add; Of = (*this)[Of].Left)
    Append((*this)[Of].Right);
  Append(Of);
}

/// `3*a` is three of `a`.
std::pair<ExprId, int64_t> ExprTable::splitCoefficient(ExprId Of) const {
  const ExprNode &N = (*this)[Of];
  if (N.Op == ExprOp::Mul)
    if (const auto C = constantAt(N.Right))
      return {N.Left, *C};
  return {Of, 1};
}

void ExprTable::forEachTerm(ExprId Of,
                            llvm::function_ref<void(ExprId, int64_t)> Visit) {
  Terms Summands;
  int64_t Constant = 0;
  summands(Of, Summands, Constant);
  for (const ExprId Term : Summands) {
    const auto &[Once, Times] = splitCoefficient(Term);
    Visit(Once, Times);
  }
  if (Constant != 0)
    Visit(constant(Constant), 1);
}

ExprId ExprTable::sum(llvm::ArrayRef<ExprId> Of) {
  Terms Summands;
  int64_t Constant = 0;
  for (const ExprId S : Of)
    summands(S, Summands, Constant);
  using Term = std::pair<ExprId, int64_t>;
  llvm::SmallVector<Term, 8> Split, Counted;
  for (const ExprId S : Summands)
    Split.push_back(splitCoefficient(S));
  llvm::stable_sort(Split, [&](const Term &A, const Term &B) {
    return precedes(A.first, B.first);
  });
  for (const auto &[Of, Times] : Split)
    if (!Counted.empty() && Counted.back().first == Of)
      Counted.back().second =
          applyExprOp(ExprOp::Add, Counted.back().second, Times);
    else
      Counted.emplace_back(Of, Times);
  llvm::erase_if(Counted, [](const Term &C) { return C.second == 0; });
  if (Counted.empty())
    return constant(Constant);
  std::optional<ExprId> Sum;
  for (const auto &[Of, Times] : Counted) {
    const ExprId Term = Times == 1 ? Of : mul(Of, constant(Times));
    Sum = Sum ? unique({ExprOp::Add, 0, {}, *Sum, Term}) : Term;
  }
  return Constant == 0 ? *Sum
                       : unique({ExprOp::Add, 0, {}, *Sum, constant(Constant)});
}
