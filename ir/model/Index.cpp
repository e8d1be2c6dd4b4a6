// SPDX-License-Identifier: Apache-2.0
#include "ir/model/Index.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::ir;

IndexTable::IndexTable() = default;
IndexTable::IndexTable(const IndexTable &) = default;
IndexTable::IndexTable(IndexTable &&) noexcept = default;
IndexTable &IndexTable::operator=(const IndexTable &) = default;
IndexTable &IndexTable::operator=(IndexTable &&) noexcept = default;
IndexTable::~IndexTable() = default;

static llvm::StringRef getSpelling(IndexVariable V) {
  static constexpr llvm::StringLiteral Spellings[] = {
#define INDEX_VARIABLE(ENUMERATOR, SPELLING, DOC) SPELLING,
#include "ir/model/Indices.def"
  };
  return Spellings[static_cast<size_t>(V)];
}

static llvm::StringRef getSpelling(IndexOp Op) {
  static constexpr llvm::StringLiteral Spellings[] = {
      "",
      "",
#define INDEX_OP(ENUMERATOR, SPELLING, DOC) SPELLING,
#include "ir/model/Indices.def"
  };
  return Spellings[static_cast<size_t>(Op)];
}

/// Rounded down. Most numbers are small, and divide faster as such.
static int64_t floorDivide(int64_t L, int64_t R) {
  if ((static_cast<uint64_t>(L) | static_cast<uint64_t>(R)) <= UINT32_MAX)
    return static_cast<uint32_t>(L) / static_cast<uint32_t>(R);
  return L / R - (L % R < 0);
}

/// \p Op of two numbers; whether it has a value.
static bool evaluate(IndexOp Op, int64_t L, int64_t R, int64_t &Out) {
  switch (Op) {
  case IndexOp::Add:
    return !llvm::AddOverflow(L, R, Out);
  case IndexOp::Sub:
    return !llvm::SubOverflow(L, R, Out);
  case IndexOp::Mul:
    return !llvm::MulOverflow(L, R, Out);
  case IndexOp::Div:
    Out = R <= 0 ? 0 : floorDivide(L, R);
    return R > 0;
  case IndexOp::Mod:
    Out = R <= 0 ? 0 : L - floorDivide(L, R) * R;
    return R > 0;
  case IndexOp::Min:
    Out = std::min(L, R);
    return true;
  case IndexOp::Max:
    Out = std::max(L, R);
    return true;
  case IndexOp::Constant:
  case IndexOp::Variable:
    break;
  }
  llvm_unreachable("not an operation of two operands");
}

std::optional<int64_t> foretrace::ir::applyIndexOp(IndexOp Op, int64_t Left,
                                                   int64_t Right) {
  int64_t Out = 0;
  return evaluate(Op, Left, Right, Out) ? std::optional(Out) : std::nullopt;
}

IndexId IndexTable::unique(IndexNode N) {
  auto [It, IsNew] = Known.try_emplace(
      {static_cast<unsigned>(N.Op), N.Value, N.Left.Index, N.Right.Index});
  if (!IsNew)
    return It->second;
  if (N.Op == IndexOp::Variable)
    Varies.push_back(static_cast<IndexVariable>(N.Value) == IndexVariable::I);
  else
    Varies.push_back(N.Op != IndexOp::Constant &&
                     (varies(N.Left) || varies(N.Right)));
  Operations.push_back(
      N.Left.isValid() ? llvm::SaturatingAdd(uint32_t(1), operations(N.Left),
                                             operations(N.Right))
                       : 0);
  return It->second = Nodes.add(N);
}

int64_t IndexTable::largestConstant() const {
  int64_t Most = 0;
  for (const IndexNode &N : Nodes)
    if (N.Op == IndexOp::Constant)
      Most = std::max(
          {Most, N.Value, N.Value == INT64_MIN ? INT64_MAX : -N.Value});
  return Most;
}

IndexCode IndexTable::code(llvm::ArrayRef<IndexId> Used, bool Varying) const {
  std::vector<bool> IsUsed(Nodes.size());
  for (IndexId I : Used)
    IsUsed[I.Index] = true;
  for (size_t I = Nodes.size(); I-- > 0;)
    if (const IndexNode &N = Nodes[Nodes.idAt(I)];
        IsUsed[I] && N.Left.isValid())
      IsUsed[N.Left.Index] = IsUsed[N.Right.Index] = true;
  IndexCode Out;
  for (size_t I = 0; I < Nodes.size(); ++I)
    if (IsUsed[I] && Varies[I] == Varying)
      Out.push_back(Nodes.idAt(I));
  return Out;
}

IndexId IndexTable::constant(int64_t Value) {
  return unique({IndexOp::Constant, Value, {}, {}});
}

IndexId IndexTable::variable(IndexVariable V) {
  return unique({IndexOp::Variable, static_cast<int64_t>(V), {}, {}});
}

std::optional<int64_t> IndexTable::constantAt(IndexId I) const {
  return Nodes[I].Op == IndexOp::Constant ? std::optional(Nodes[I].Value)
                                          : std::nullopt;
}

IndexId IndexTable::combine(IndexOp Op, IndexId Left, IndexId Right) {
  const std::optional<int64_t> L = constantAt(Left), R = constantAt(Right);
  if (L && R)
    if (std::optional<int64_t> Folded = applyIndexOp(Op, *L, *R))
      return constant(*Folded);
  const bool IsSum = Op == IndexOp::Add || Op == IndexOp::Sub;
  const bool IsProduct = Op == IndexOp::Mul || Op == IndexOp::Div;
  if ((IsSum && R == 0) || (IsProduct && R == 1))
    return Left;
  if ((Op == IndexOp::Add && L == 0) || (Op == IndexOp::Mul && L == 1))
    return Right;
  if (Op == IndexOp::Mul && (L == 0 || R == 0))
    return constant(0);
  if ((Op == IndexOp::Div || Op == IndexOp::Mod) && L == 0)
    return Left;
  if (R && *R < 0 && *R != INT64_MIN && IsSum)
    return combine(Op == IndexOp::Add ? IndexOp::Sub : IndexOp::Add, Left,
                   constant(-*R));
  return unique({Op, 0, Left, Right});
}

void IndexTable::name(IndexId I, llvm::StringRef Name) {
  if (llvm::any_of(Names, [&](auto &Row) { return Row.first == I; }))
    return;
  assert(llvm::none_of(Names, [&](auto &Row) { return Row.second == Name; }));
  Names.emplace_back(I, Name.str());
}

void IndexTable::print(IndexId I, llvm::raw_ostream &OS) const {
  print(I, 0, OS);
}

void IndexTable::printDefinition(IndexId I, llvm::raw_ostream &OS) const {
  printNode(Nodes[I], 0, OS);
}

void IndexTable::print(IndexId I, unsigned Precedence,
                       llvm::raw_ostream &OS) const {
  auto Found = llvm::find_if(Names, [&](auto &Row) { return Row.first == I; });
  if (Found != Names.end())
    OS << Found->second;
  else
    printNode(Nodes[I], Precedence, OS);
}

/// Prints parentheses if an operation binds less than \p Precedence.
void IndexTable::printNode(const IndexNode &N, unsigned Precedence,
                           llvm::raw_ostream &OS) const {
  const llvm::StringRef Op = ::getSpelling(N.Op);
  switch (N.Op) {
  case IndexOp::Constant:
    OS << N.Value;
    return;
  case IndexOp::Variable:
    OS << ::getSpelling(static_cast<IndexVariable>(N.Value));
    return;
  case IndexOp::Min:
  case IndexOp::Max:
    OS << Op << '(';
    print(N.Left, 0, OS);
    OS << ", ";
    print(N.Right, 0, OS);
    OS << ')';
    return;
  case IndexOp::Add:
  case IndexOp::Sub:
  case IndexOp::Mul:
  case IndexOp::Div:
  case IndexOp::Mod: {
    const unsigned Own = N.Op == IndexOp::Add || N.Op == IndexOp::Sub ? 1 : 2;
    OS << (Own < Precedence ? "(" : "");
    print(N.Left, Own, OS);
    OS << ' ' << Op << ' ';
    print(N.Right, Own + 1, OS);
    OS << (Own < Precedence ? ")" : "");
    return;
  }
  }
  llvm_unreachable("every operation is handled");
}

void IndexValues::compute(const IndexCode &Code) {
  for (IndexId I : Code) {
    const IndexNode &N = (*T)[I];
    int64_t &Out = Values[I.Index];
    if (N.Op == IndexOp::Constant)
      Out = N.Value;
    else if (N.Op == IndexOp::Variable)
      Out = Variables[static_cast<size_t>(N.Value)];
    else
      Failed |=
          !evaluate(N.Op, Values[N.Left.Index], Values[N.Right.Index], Out);
  }
}

/// Returns how often \p Value, growing by \p Growth, stays between two
/// multiples of \p Divisor.
static int64_t timesWithin(int64_t Value, int64_t Growth, int64_t Divisor) {
  const int64_t Rest = (Value % Divisor + Divisor) % Divisor;
  return Growth > 0 ? (Divisor - 1 - Rest) / Growth : Rest / -Growth;
}

/// Returns how often two growing values stay in their order.
static int64_t timesInOrder(__int128 Left, __int128 LeftGrowth, __int128 Right,
                            __int128 RightGrowth) {
  const bool IsLess = Left < Right;
  const __int128 Apart = IsLess ? Right - Left : Left - Right;
  const __int128 Closer =
      IsLess ? LeftGrowth - RightGrowth : RightGrowth - LeftGrowth;
  if (Apart == 0 && Closer != 0)
    return 0; // either may be ahead
  return Closer <= 0 ? INT64_MAX
                     : static_cast<int64_t>(
                           std::min<__int128>(Apart / Closer, INT64_MAX));
}

void IndexValues::computeTrends(const IndexCode &Varying, int64_t By) {
  for (IndexId I : Varying)
    Trends[I.Index] = trendOf((*T)[I], By);
}

std::optional<IndexValues::Trend> IndexValues::trendOf(const IndexNode &N,
                                                       int64_t By) const {
  if (N.Op == IndexOp::Variable)
    return Trend{By, Trend::Always};
  const std::optional<Trend> Left = trend(N.Left);
  const std::optional<Trend> Right = trend(N.Right);
  if (!Left || !Right)
    return std::nullopt;
  const int64_t L = Values[N.Left.Index], R = Values[N.Right.Index];
  const int64_t Times = std::min(Left->Times, Right->Times);
  auto Grows = [Times](std::optional<int64_t> Growth) {
    return Growth ? std::optional(Trend{*Growth, Times}) : std::nullopt;
  };
  switch (N.Op) {
  case IndexOp::Add:
  case IndexOp::Sub:
    return Grows(applyIndexOp(N.Op, Left->Growth, Right->Growth));
  case IndexOp::Mul:
    if (Left->Growth != 0 && Right->Growth != 0)
      return std::nullopt;
    return Grows(Left->Growth == 0 ? applyIndexOp(N.Op, L, Right->Growth)
                                   : applyIndexOp(N.Op, Left->Growth, R));
  case IndexOp::Div:
  case IndexOp::Mod:
    if (Right->Growth != 0 || R <= 0 || Left->Growth == INT64_MIN)
      return std::nullopt;
    if (Left->Growth % R == 0)
      return Grows(N.Op == IndexOp::Div ? Left->Growth / R : 0);
    return Trend{N.Op == IndexOp::Div ? 0 : Left->Growth,
                 std::min(Times, timesWithin(L, Left->Growth, R))};
  case IndexOp::Min:
  case IndexOp::Max: {
    const bool IsLeft = N.Op == IndexOp::Min ? L <= R : L >= R;
    return Trend{
        IsLeft ? Left->Growth : Right->Growth,
        std::min(Times, timesInOrder(L, Left->Growth, R, Right->Growth))};
  }
  case IndexOp::Constant:
  case IndexOp::Variable:
    break;
  }
  llvm_unreachable("constants and variables are handled above");
}
