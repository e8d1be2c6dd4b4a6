// SPDX-License-Identifier: Apache-2.0
#include "tools/importers/formulas/FormulaEvaluator.h"
#include "lang/Compute.h"
#include "lang/diagnostics/Import.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"

using namespace llvm;
using foretrace::ast::BinaryOp;

namespace foretrace::importers {

using Kind = ForeignValue::Kind;

/// Formulas and the names in them may nest this deep.
static constexpr unsigned MaxDepth = 200;

ForeignValue FormulaEvaluator::evaluate(const ast::Expr &E) {
  Origin = {};
  return visit(E);
}

std::optional<bool> FormulaEvaluator::holds(const ast::Expr &E) {
  const ForeignValue V = evaluate(E);
  if (V.isMissing() || !needs(V, Kind::Boolean, "true or false"))
    return std::nullopt;
  return V.Truth;
}

ArrayRef<ast::Entry> FormulaEvaluator::choose(const ast::If &I) {
  const std::optional<bool> Holds = holds(*I.Condition);
  if (!Holds)
    return {};
  return *Holds ? I.Then : I.Else;
}

std::string FormulaEvaluator::interpolate(StringRef Text) {
  std::string Out;
  while (!Text.empty()) {
    auto [Before, Rest] = Text.split('{');
    Out += Before;
    if (Rest.empty())
      break;
    if (Rest.consume_front("{")) { // a brace itself
      Out += '{';
      Text = Rest;
      continue;
    }
    const auto [Name, After] = Rest.split('}');
    ast::Name Path;
    SmallVector<StringRef, 2> Words;
    Name.split(Words, '.');
    for (StringRef W : Words)
      Path.Path.push_back({W.str(), {}});
    const SourceRange OfFormula = Origin;
    const ForeignValue V = name(Path, /*IsOptional=*/true);
    Out += V.Is == Kind::Text ? V.Text : V.print();
    Origin = OfFormula;
    Text = After;
  }
  return Out;
}

bool FormulaEvaluator::needs(const ForeignValue &V, Kind Wanted,
                             StringRef Expected) {
  if (V.Is == Wanted)
    return true;
  if (!V.isMissing())
    Diags.report(V.Range, diag::ImportValueKind, V.kindName(), Expected);
  return false;
}

bool FormulaEvaluator::needsNumber(const ForeignValue &V) {
  return V.isNumber() || needs(V, Kind::Integer, "a number");
}

ForeignValue FormulaEvaluator::overflow(SourceRange Range, SourceRange Use) {
  Diags.report(Range.isValid() ? Range : Use, diag::ImportOverflow);
  return {};
}

/// The value of a key of the input, by any of its names.
ForeignValue FormulaEvaluator::find(StringRef Key) {
  const auto Read = [&](StringRef Name) -> const ForeignValue * {
    if (const ForeignValue *V = Input.find(Name))
      return V;
    return Outer ? Outer->find(Name) : nullptr;
  };
  const ForeignValue *Found = Read(Key);
  for (const std::string &Other : Map.spellings(Key))
    if (!Found)
      Found = Read(Other);
  return Found ? *Found : ForeignValue();
}

/// Returns whether it depends on a variable that the input does not define.
static bool isUnresolved(const ForeignValue &V) {
  return V.isMissing() && !V.Text.empty();
}

/// Returns whether a default is a number or a boolean by itself.
static bool isConstant(const ast::Expr &E) {
  return std::holds_alternative<ast::Number>(E.Node) ||
         std::holds_alternative<ast::Boolean>(E.Node);
}

ForeignValue FormulaEvaluator::let(StringRef Name, const ast::Expr &Value) {
  const SourceRange Before = Origin;
  const auto From = [&](SourceRange Read) {
    Origin = Before.isValid() ? Before : Read;
  };
  if (const auto At = Lets.find(Name); At != Lets.end()) {
    From(At->second.Origin);
    return At->second.Value;
  }
  const bool ReadLayer = std::exchange(ReadsLayer, false);
  Origin = {};
  ForeignValue V = visit(Value);
  if (!ReadsLayer && !V.isMissing()) // asks for a missing one at each use
    Lets[Name] = {V, Origin};
  From(Origin);
  ReadsLayer |= ReadLayer;
  return V;
}

ForeignValue FormulaEvaluator::name(const ast::Name &N, bool IsOptional) {
  const StringRef Key = N.Path.front().Text;
  if (Key == "none")
    return {};
  if (Key == "null")
    return ForeignValue::null();
  if (Key == "layer") {
    ReadsLayer = true;
    return Layer ? ForeignValue::of(*Layer) : ForeignValue();
  }
  const ast::Expr *Let = Map.findLet(Key);
  ForeignValue Found = Let ? let(Key, *Let) : find(Key);
  if (Let && N.Path.size() == 1)
    return Found;
  for (const ast::Word &Member : ArrayRef(N.Path).drop_front()) {
    const ForeignValue *In = Found.find(Member.Text);
    Found = In ? *In : ForeignValue();
  }
  if (!Found.isMissing()) {
    if (!Origin.isValid())
      Origin = Found.Range;
    return Found;
  }
  if (isUnresolved(Found)) {
    if (!Origin.isValid())
      Origin = Found.Range;
    NumAsked += !IsOptional;
    if (!IsOptional && Reported.insert(Key).second)
      Diags.report(Found.Range, diag::ImportUnresolved, Key, Found.Text);
    return Found;
  }
  if (N.Path.size() == 1)
    if (const ast::Expr *Default = Map.findDefault(Key)) {
      ForeignValue V = visit(*Default);
      const bool IsOn = !std::holds_alternative<ast::Boolean>(Default->Node) ||
                        std::get<ast::Boolean>(Default->Node).Value;
      if (isConstant(*Default) && IsOn && Taken.insert(Key).second)
        Defaults.push_back({Key.str(), V.print()});
      return V;
    }
  if (IsOptional || AllowsMissing)
    return {};
  std::string Path = Key.str();
  for (const ast::Word &Member : ArrayRef(N.Path).drop_front())
    Path += "." + Member.Text;
  if (AsksForMissing) {
    ++NumAsked;
  } else if (Reported.insert(Path).second) {
    Diags.report(Input.Range.atStart(), diag::ImportKeyMissing, Path);
  }
  return {};
}

ForeignValue FormulaEvaluator::visit(const ast::Expr &E) {
  ++Depth;
  const auto Leave = make_scope_exit([&] { --Depth; });
  if (Depth > MaxDepth)
    return overflow({}, E.Range);
  if (const auto *N = std::get_if<ast::Number>(&E.Node))
    return readScalar(N->Digits, {});
  if (const auto *Text = std::get_if<ast::String>(&E.Node))
    return ForeignValue::of(Text->Value);
  if (const auto *B = std::get_if<ast::Boolean>(&E.Node))
    return ForeignValue::of(B->Value);
  if (const auto *N = std::get_if<ast::Name>(&E.Node))
    return name(*N, /*IsOptional=*/false);
  if (const auto *U = std::get_if<ast::Unary>(&E.Node))
    return unary(*U);
  if (const auto *B = std::get_if<ast::Binary>(&E.Node))
    return binary(*B, E.Range);
  if (const auto *F = std::get_if<ast::Call>(&E.Node))
    return call(*F);
  if (const auto *C = std::get_if<ast::Conditional>(&E.Node)) {
    const ForeignValue If = visit(*C->Condition);
    if (If.isMissing() || !needs(If, Kind::Boolean, "true or false"))
      return {};
    return visit(If.Truth ? *C->Then : *C->Else);
  }
  std::vector<ForeignValue> Elements;
  for (const ast::ExprPtr &Element : std::get<ast::List>(E.Node).Elements)
    Elements.push_back(visit(*Element));
  return ForeignValue::of(std::move(Elements));
}

ForeignValue FormulaEvaluator::unary(const ast::Unary &U) {
  ForeignValue V = visit(*U.Operand);
  if (U.Op == ast::UnaryOp::Not)
    return !V.isMissing() && needs(V, Kind::Boolean, "true or false")
               ? ForeignValue::of(!V.Truth, V.Range)
               : ForeignValue();
  if (!needsNumber(V))
    return {};
  return V.Is == Kind::Real ? ForeignValue::of(-V.Real, V.Range)
                            : ForeignValue::of(-V.Integer, V.Range);
}

/// `and` and `or`, whose right side is read only if it matters.
ForeignValue FormulaEvaluator::logic(const ast::Binary &B) {
  const ForeignValue L = visit(*B.Left);
  if (L.isMissing() || !needs(L, Kind::Boolean, "true or false"))
    return {};
  if (L.Truth == (B.Op == BinaryOp::Or))
    return L;
  const ForeignValue R = visit(*B.Right);
  return R.isMissing() || needs(R, Kind::Boolean, "true or false")
             ? R
             : ForeignValue();
}

ForeignValue FormulaEvaluator::arithmetic(BinaryOp Op, const ForeignValue &L,
                                          const ForeignValue &R,
                                          SourceRange Use) {
  const SourceRange Range = L.Range.isValid() ? L.Range : R.Range;
  const bool AreIntegers = L.Is == Kind::Integer && R.Is == Kind::Integer;
  const bool IsExact = Op != BinaryOp::Div || R.Integer == -1 ||
                       (R.Integer != 0 && L.Integer % R.Integer == 0);
  if (AreIntegers && IsExact) {
    if (const auto Made = compute(Op, L.Integer, R.Integer))
      return ForeignValue::of(*Made, Range);
    return overflow(Range, Use);
  }
  if ((Op == BinaryOp::Div || Op == BinaryOp::Mod) && R.number() == 0)
    return overflow(Range, Use);
  return ForeignValue::of(compute(Op, L.number(), R.number()), Range);
}

ForeignValue FormulaEvaluator::binary(const ast::Binary &B, SourceRange Use) {
  if (B.Op == BinaryOp::And || B.Op == BinaryOp::Or)
    return logic(B);
  const ForeignValue L = visit(*B.Left), R = visit(*B.Right);
  if (L.isMissing() || R.isMissing())
    return {};
  if (B.Op == BinaryOp::Eq || B.Op == BinaryOp::Ne)
    return ForeignValue::of(areEqual(L, R) == (B.Op == BinaryOp::Eq));
  if (B.Op == BinaryOp::Add && L.Is == Kind::Text && R.Is == Kind::Text)
    return ForeignValue::of(L.Text + R.Text, L.Range);
  if (!needsNumber(L) || !needsNumber(R))
    return {};
  if (B.Op >= BinaryOp::Lt && B.Op <= BinaryOp::Ge)
    return ForeignValue::of(compare(B.Op, L.number(), R.number()));
  return arithmetic(B.Op, L, R, Use);
}

/// A value that need not be there.
ForeignValue FormulaEvaluator::optional(const ast::Expr &E) {
  if (const auto *N = std::get_if<ast::Name>(&E.Node))
    return name(*N, /*IsOptional=*/true);
  return visit(E);
}

/// The values of a formula for all elements of a list, of which `layer` is the
/// number.
ForeignValue FormulaEvaluator::each(const ast::Call &C) {
  const ForeignValue List = visit(*C.Arguments.front());
  if (!needs(List, Kind::List, "a list"))
    return {};
  const std::optional<int64_t> Before = Layer;
  const bool ReadLayer = ReadsLayer;
  std::vector<ForeignValue> Made;
  for (size_t I = 0; I != List.Elements->size(); ++I) {
    Layer = static_cast<int64_t>(I);
    Made.push_back(optional(*C.Arguments.back()));
  }
  Layer = Before;
  ReadsLayer = ReadLayer;
  return ForeignValue::of(std::move(Made), List.Range);
}

bool FormulaEvaluator::isKeyOfInput(const ast::Name &N) const {
  return N.Path.size() == 1 && !Map.findLet(N.Path.front().Text);
}

/// Evaluates forms whose arguments may be missing; nothing if \p C is none.
std::optional<ForeignValue> FormulaEvaluator::form(const ast::Call &C) {
  const StringRef Name = C.Callee.Text;
  const ast::Expr &First = *C.Arguments.front();
  if (Name == "first")
    return first(C);
  if (Name == "each")
    return each(C);
  if (Name == "ask") {
    ++NumAsked;
    return ForeignValue();
  }
  if (Name == "formula") {
    ForeignValue Formula = ForeignValue::of(interpolate(textOf(First)));
    Formula.IsFormula = true;
    return Formula;
  }
  if (Name == "if_known") {
    ForeignValue V = optional(First);
    return isUnresolved(V) ? ForeignValue() : V;
  }
  if (Name != "stated" && Name != "is_on" && Name != "is_null")
    return std::nullopt;
  // The input states a key whatever its default.
  const auto *Key = std::get_if<ast::Name>(&First.Node);
  const ForeignValue V = Name == "stated" && Key && isKeyOfInput(*Key)
                             ? find(Key->Path.front().Text)
                             : optional(First);
  const bool IsUnresolved = isUnresolved(V);
  return ForeignValue::of(Name == "stated"  ? !V.isMissing() || IsUnresolved
                          : Name == "is_on" ? !V.isOff() || IsUnresolved
                                            : V.Is == Kind::Null,
                          V.Range);
}

/// The first argument that has a value.
ForeignValue FormulaEvaluator::first(const ast::Call &C) {
  for (const ast::ExprPtr &A : C.Arguments) {
    ForeignValue V = optional(*A);
    if (isUnresolved(V))
      return visit(*A); // which asks for it
    if (!V.isMissing() && V.Is != Kind::Null)
      return V;
  }
  return {};
}

ForeignValue FormulaEvaluator::call(const ast::Call &C) {
  if (std::optional<ForeignValue> Made = form(C))
    return *Made;
  std::vector<ForeignValue> Of;
  for (const ast::ExprPtr &A : C.Arguments)
    Of.push_back(visit(*A));
  if (any_of(Of, [](const ForeignValue &V) { return V.isMissing(); }))
    return {};
  return callFunction(C.Callee.Text, Of, Diags);
}

} // namespace foretrace::importers
