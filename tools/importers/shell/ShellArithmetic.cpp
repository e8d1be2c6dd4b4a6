// SPDX-License-Identifier: Apache-2.0
//
// `$(( ))`: integers as in C.
#include "lang/Compute.h"
#include "tools/importers/shell/ShellWords.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace llvm;

namespace foretrace::importers::shell {

namespace {

using MaybeInt = std::optional<int64_t>;

class Arithmetic {
public:
  Arithmetic(StringRef Text, function_ref<MaybeInt(StringRef)> Value,
             function_ref<void(StringRef, int64_t)> Set)
      : Rest(Text), Value(Value), Set(Set) {}

  MaybeInt whole() {
    const MaybeInt All = conditional();
    return Rest.trim().empty() ? All : std::nullopt;
  }

private:
  bool take(StringRef Operator);
  /// Returns whether one more expression may be inside of others.
  bool descend();
  MaybeInt conditional();
  MaybeInt binary(unsigned Level);
  MaybeInt unary();
  MaybeInt primary();
  MaybeInt variable();

  StringRef Rest;
  function_ref<MaybeInt(StringRef)> Value;
  function_ref<void(StringRef, int64_t)> Set;
  unsigned Depth = 0;
};

/// Binary operators from the loosest level to the tightest; in a level those
/// that others begin with come last.
struct Operator {
  unsigned Level;
  StringLiteral Spelling;
  BinaryOp Is;
};
constexpr Operator Operators[] = {
    {0, "||", BinaryOp::Or}, {1, "&&", BinaryOp::And}, {2, "==", BinaryOp::Eq},
    {2, "!=", BinaryOp::Ne}, {3, "<=", BinaryOp::Le},  {3, ">=", BinaryOp::Ge},
    {3, "<", BinaryOp::Lt},  {3, ">", BinaryOp::Gt},   {4, "+", BinaryOp::Add},
    {4, "-", BinaryOp::Sub}, {5, "*", BinaryOp::Mul},  {5, "/", BinaryOp::Div},
    {5, "%", BinaryOp::Mod}};
constexpr unsigned NumLevels = 6;

} // namespace

/// Quotients are rounded towards 0.
static MaybeInt apply(BinaryOp Op, int64_t A, int64_t B) {
  if (Op != BinaryOp::Div && Op != BinaryOp::Mod)
    return compute(Op, A, B);
  if (B == 0 || A == INT64_MIN)
    return std::nullopt;
  return Op == BinaryOp::Div ? A / B : A % B;
}

bool Arithmetic::take(StringRef Operator) {
  Rest = Rest.ltrim();
  return Rest.consume_front(Operator);
}

bool Arithmetic::descend() {
  constexpr unsigned MaxDepth = 64;
  if (++Depth <= MaxDepth)
    return true;
  Rest = {}; // the whole is then unknown, too
  return false;
}

MaybeInt Arithmetic::conditional() {
  if (!descend())
    return std::nullopt;
  const auto Leave = make_scope_exit([this] { --Depth; });
  const MaybeInt If = binary(0);
  if (!If || !take("?"))
    return If;
  const MaybeInt Then = conditional();
  if (!take(":"))
    return std::nullopt;
  const MaybeInt Else = conditional();
  return *If ? Then : Else;
}

MaybeInt Arithmetic::binary(unsigned Level) {
  if (Level == NumLevels)
    return unary();
  MaybeInt Left = binary(Level + 1);
  const auto IsNext = [&](const Operator &O) {
    return O.Level == Level && take(O.Spelling);
  };
  for (const Operator *O;
       (O = find_if(Operators, IsNext)) != std::end(Operators);) {
    const MaybeInt Right = binary(Level + 1);
    Left = Left && Right ? apply(O->Is, *Left, *Right) : std::nullopt;
  }
  return Left;
}

MaybeInt Arithmetic::unary() {
  if (!descend())
    return std::nullopt;
  const auto Leave = make_scope_exit([this] { --Depth; });
  if (take("!")) {
    const MaybeInt Of = unary();
    return Of ? MaybeInt(!*Of) : std::nullopt;
  }
  if (take("-")) {
    const MaybeInt Of = unary();
    return Of ? checkedSub(int64_t(0), *Of) : std::nullopt;
  }
  take("+");
  return primary();
}

MaybeInt Arithmetic::primary() {
  if (take("(")) {
    const MaybeInt Inside = conditional();
    return take(")") ? Inside : std::nullopt;
  }
  Rest = Rest.ltrim();
  if (!Rest.empty() && (isAlpha(Rest.front()) || Rest.front() == '_'))
    return variable();
  // `010` is octal, and `10#010` is not.
  int64_t Integer;
  constexpr int64_t MinBase = 2, MaxBase = 36;
  if (Rest.consumeInteger(0, Integer))
    return std::nullopt;
  if (!Rest.consume_front("#"))
    return Integer;
  if (Integer < MinBase || Integer > MaxBase)
    return std::nullopt;
  const auto Base = static_cast<unsigned>(Integer);
  return Rest.consumeInteger(Base, Integer) ? MaybeInt() : Integer;
}

/// A name, which may be set: `i = 1`, `i += 1`, `i++`.
MaybeInt Arithmetic::variable() {
  const StringRef Name =
      Rest.take_while([](char C) { return isAlnum(C) || C == '_'; });
  Rest = Rest.drop_front(Name.size());
  const MaybeInt Old = Value(Name);
  if (take("++") || take("--")) {
    const bool IsUp = *(Rest.data() - 1) == '+';
    const MaybeInt New =
        Old ? checkedAdd(*Old, int64_t(IsUp ? 1 : -1)) : std::nullopt;
    if (New)
      Set(Name, *New);
    return New ? Old : std::nullopt;
  }
  MaybeInt New;
  if (take("+=")) {
    const MaybeInt By = conditional();
    New = Old && By ? checkedAdd(*Old, *By) : std::nullopt;
  } else if (take("-=")) {
    const MaybeInt By = conditional();
    New = Old && By ? checkedSub(*Old, *By) : std::nullopt;
  } else if (Rest.ltrim().starts_with("=") && !Rest.ltrim().starts_with("==")) {
    take("=");
    New = conditional();
  } else {
    return Old;
  }
  if (New)
    Set(Name, *New);
  return New;
}

MaybeInt evaluate(StringRef Expression, function_ref<MaybeInt(StringRef)> Value,
                  function_ref<void(StringRef, int64_t)> Set) {
  return Arithmetic(Expression, Value, Set).whole();
}

} // namespace foretrace::importers::shell
