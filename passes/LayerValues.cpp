// SPDX-License-Identifier: Apache-2.0
//
// Values of expressions in the text of a layer.
#include "ir/model/Routing.h"
#include "ir/model/Spellings.h"
#include "lang/Compute.h"
#include "lang/ShippedLayers.h"
#include "passes/LayerWalker.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/VersionTuple.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Returns whether some key has the word as a value.
bool LayerWalker::isWord(llvm::StringRef Word) const {
  static const llvm::StringSet<> Words = {
#define SPEC_ENUM(TYPE, ENUMERATOR, SPELLING) SPELLING,
#include "ir/model/Spec.def"
  };
  return Words.contains(Word) ||
         llvm::any_of(shippedLayers(),
                      [&](const auto &L) { return L.hasWord(Word); }) ||
         llvm::any_of(P.Spec.Layers,
                      [&](const auto *L) { return L->hasWord(Word); });
}

LayerWalker::Lazy LayerWalker::resolve(const Node &E, Frame &F) {
  Lazy At = {&E, &F};
  const auto Deeper = nest();
  for (; At.Is->Is == Node::Kind::Name && !isBeyondLimits(*At.Is); ++Nesting) {
    const auto Key = At.In->Keys.find(At.Is->Text);
    if (Key == At.In->Keys.end())
      break;
    At = Key->second;
  }
  return At;
}

/// Returns whether \p E is a number by its form, whatever its names mean.
static bool isArithmetic(const layers::Expr &E) {
  using Kind = layers::Expr::Kind;
  return E.Is == Kind::Number || (E.Is >= Kind::Add && E.Is <= Kind::Mod) ||
         (E.Is == Kind::Call && (E.Text == "floor" || E.Text == "units" ||
                                 E.Text == "parts_of_token"));
}

/// Returns whether \p Of is a number rather than a condition or a word.
bool LayerWalker::isNumber(const Node &Of, Frame &At) {
  const auto Deeper = nest();
  if (isBeyondLimits(Of))
    return false;
  const auto [E, F] = resolve(Of, At);
  if (E->Is == Node::Kind::Conditional) {
    const bool Is = isNumber(E->Operands[1], *F);
    if (isNumber(E->Operands[2], *F) != Is)
      fail(E->Range, "the two values are of different types");
    return Is;
  }
  if (E->Is != Node::Kind::Name)
    return isArithmetic(*E);
  bool Is = false;
  visitKey(E->Text, *F, [&](const auto &Member) {
    Is = std::is_same_v<std::decay_t<decltype(Member)>, Located<int64_t>>;
  });
  return Is;
}

/// Returns the value of a name; a name that is no key can be a word.
LayerWalker::Scalar LayerWalker::scalarOf(const Node &E, Frame &F) {
  if (E.Text == "true" || E.Text == "false")
    return E.Text == "true";
  if (E.Text == "serving")
    return P.Spec.Serve.has_value();
  Scalar Found = E.Text.str();
  const bool IsKey = visitKey(E.Text, F, [&](const auto &Member) {
    if (!Member.isPresent())
      return fail(E.Range, "`" + E.Text + "` has no value here");
    if constexpr (std::is_enum_v<std::decay_t<decltype(*Member)>>)
      Found = getSpelling(*Member).str();
    else
      Found = *Member;
  });
  if (!IsKey && !isWord(E.Text))
    fail(E.Range, "no key or word `" + E.Text + "`");
  return Found;
}

int64_t LayerWalker::valueOf(const Node &E, Frame &F) {
  const Expr Is = number(E, F);
  if (HasFailed || Is.hasValue())
    return Is.value();
  fail(E.Range, "the number is a fraction or exceeds 2^63");
  return 0;
}

LayerWalker::Scalar LayerWalker::scalar(const Node &Of, Frame &At) {
  const auto Deeper = nest();
  if (isBeyondLimits(Of))
    return false;
  const Lazy Resolved = resolve(Of, At);
  const Node &E = *Resolved.Is;
  Frame &F = *Resolved.In;
  if (HasFailed)
    return false;
  if (isArithmetic(E))
    return valueOf(E, F);
  switch (E.Is) {
  case Node::Kind::String:
    return E.Text.str();
  case Node::Kind::Name:
    return scalarOf(E, F);
  case Node::Kind::Call:
    if (const std::optional<bool> Is = aboutKey(E, F))
      return *Is;
    fail(E.Range, "no function `" + E.Text + "`");
    return false;
  case Node::Kind::Not:
    return !holds(E.Operands[0], F);
  case Node::Kind::And:
    return holds(E.Operands[0], F) && holds(E.Operands[1], F);
  case Node::Kind::Or:
    return holds(E.Operands[0], F) || holds(E.Operands[1], F);
  case Node::Kind::Conditional:
    return scalar(E.Operands[holds(E.Operands[0], F) ? 1 : 2], F);
  default:
    return compares(E, F);
  }
}

bool LayerWalker::holds(const Node &E, Frame &F) {
  const Scalar Is = scalar(E, F);
  if (const auto *Holds = std::get_if<bool>(&Is); Holds || HasFailed)
    return Holds && *Holds;
  fail(E.Range, "expected a condition");
  return false;
}

/// Returns whether the job states a key, if \p E asks that: `stated(head_dim)`.
std::optional<bool> LayerWalker::aboutKey(const Node &E, Frame &F) {
  if (E.Text != "stated" || E.Operands.size() != 1)
    return std::nullopt;
  const Node &Name = E.Operands.front();
  bool Is = true; // what a call gives is stated there
  if (!visitKeyAt(Name, F, [&](const auto &Key) { Is = Key.isStated(); }) &&
      !F.Keys.contains(Name.Text))
    fail(E.Range, "no key `" + Name.Text + "`");
  return Is;
}

/// Returns whether there is a tensor, if \p E asks that.
std::optional<bool> LayerWalker::aboutTensor(const Node &E, Frame &F) {
  if (E.Is != Node::Kind::Eq && E.Is != Node::Kind::Ne)
    return std::nullopt;
  const Node &L = E.Operands[0], &R = E.Operands[1];
  if (R.Is != Node::Kind::Name || R.Text != "none" ||
      !F.Tensors.contains(L.Text))
    return std::nullopt;
  return tensor(L, F).isValid() == (E.Is == Node::Kind::Ne);
}

std::optional<Expr> LayerWalker::comparison(const Node &E, Frame &F) {
  if (E.Is < Node::Kind::Eq || E.Is > Node::Kind::Ge ||
      !isNumber(E.Operands[0], F))
    return std::nullopt;
  const Expr L = number(E.Operands[0], F), R = number(E.Operands[1], F);
  const Expr One = ir::numberOf(P, 1);
  switch (E.Is) {
  case Node::Kind::Eq:
    return equal(L, R);
  case Node::Kind::Ne:
    return One + equal(L, R) * -1;
  case Node::Kind::Lt:
    return less(L, R);
  case Node::Kind::Ge:
    return One + less(L, R) * -1;
  case Node::Kind::Gt:
    return less(R, L);
  default:
    return One + less(R, L) * -1;
  }
}

/// Words of releases are in their order.
bool LayerWalker::compares(const Node &E, Frame &F) {
  if (const std::optional<bool> Is = aboutTensor(E, F))
    return *Is;
  if (const std::optional<Expr> Of = comparison(E, F)) {
    if (!HasFailed && !Of->hasValue())
      fail(E.Range, "the comparison has no value: a number is a fraction or "
                    "exceeds 2^63");
    return !HasFailed && decide(*Of) > 0;
  }
  const Scalar Left = scalar(E.Operands[0], F);
  const Scalar Right = scalar(E.Operands[1], F);
  if (HasFailed)
    return false;
  if (Left.index() != Right.index()) {
    fail(E.Range, "values of different types are compared");
    return false;
  }
  llvm::VersionTuple A, B;
  if (std::holds_alternative<std::string>(Left) &&
      !A.tryParse(std::get<std::string>(Left)) &&
      !B.tryParse(std::get<std::string>(Right)))
    return compare(E.op(), A, B);
  return compare(E.op(), Left, Right);
}

Expr LayerWalker::numberOf(const Node &Of, Frame &At) {
  const Lazy Resolved = resolve(Of, At);
  const Node &E = *Resolved.Is;
  Frame &F = *Resolved.In;
  if (E.Is != Node::Kind::Name)
    return number(E, F);
  std::optional<Expr> Found;
  visitKey(E.Text, F, [&](const auto &Member) {
    if constexpr (std::is_same_v<std::decay_t<decltype(Member)>,
                                 Located<int64_t>>)
      if (Member.isPresent())
        Found.emplace(exprOf(P, Member));
  });
  if (Found)
    return *Found;
  fail(E.Range, "`" + E.Text + "` is not a number, or has no value here");
  return ir::numberOf(P, 1);
}

/// `parts_of_token(parts, experts, topk, groups, group_topk)`: the expected
/// number of parts with an expert of a token, in millionths.
Expr LayerWalker::partsOfToken(const Node &E, Frame &F) {
  std::array<int64_t, 5> Of = {};
  if (E.Operands.size() != Of.size()) {
    fail(E.Range, "`parts_of_token` takes 5 numbers");
    return ir::numberOf(P, 1);
  }
  for (const auto &[To, Operand] : llvm::zip_equal(Of, E.Operands)) {
    const Expr Is = number(Operand, F);
    To = HasFailed || !Is.hasValue() ? 0 : decide(Is);
    if (To <= 0)
      return ir::numberOf(P, 1); // a demand reports it
  }
  const auto [Parts, Experts, TopK, Groups, GroupTopK] = Of;
  const auto Expected =
      expectedParts({Experts, TopK, Groups, GroupTopK}, Parts);
  noteCopies({Experts, TopK, Groups, GroupTopK});
  if (!Expected)
    fail(E.Range, "a rank has " + std::to_string(Experts / Parts) +
                      " experts and a group has " +
                      std::to_string(Experts / Groups) +
                      "; one must be a multiple of the other");
  return ir::numberOf(P, Expected.value_or(1));
}

Expr LayerWalker::number(const Node &E, Frame &F) {
  const auto Deeper = nest();
  if (isBeyondLimits(E))
    return ir::numberOf(P, 1);
  auto Operand = [&](size_t I) { return number(E.Operands[I], F); };
  switch (E.Is) {
  case Node::Kind::Number: {
    int64_t Value = 0;
    if (E.Text.getAsInteger(10, Value))
      fail(E.Range, "`" + E.Text + "` is no count");
    return ir::numberOf(P, Value);
  }
  case Node::Kind::Name:
    return numberOf(E, F);
  case Node::Kind::Conditional:
    return Operand(holds(E.Operands[0], F) ? 1 : 2);
  case Node::Kind::Add:
    return Operand(0) + Operand(1);
  case Node::Kind::Sub:
    return Operand(0) + Operand(1) * -1;
  case Node::Kind::Mul:
    return Operand(0) * Operand(1);
  case Node::Kind::Div:
    return Operand(0) / Operand(1);
  case Node::Kind::Call: { // floor(hidden / heads), units(heads(n, width))
    const Node *Ratio = E.Operands.begin();
    if (E.Text == "parts_of_token")
      return partsOfToken(E, F);
    if (E.Operands.size() != 1)
      break;
    if (E.Text == "units")
      return unitsOf(*Ratio, F).value_or(ir::numberOf(P, 1));
    if (E.Text != "floor" || Ratio->Is != Node::Kind::Div)
      break;
    const Expr L = number(Ratio->Operands[0], F);
    const Expr R = number(Ratio->Operands[1], F);
    const Expr Exact = L / R;
    return Exact.hasValue() ? Exact : floorDiv(L, R);
  }
  case Node::Kind::Mod: {
    const Expr L = Operand(0), R = Operand(1);
    return {P.Sizes, P.Sizes.combine(ExprOp::Mod, L, R)};
  }
  default:
    break;
  }
  fail(E.Range, "expected a number");
  return ir::numberOf(P, 1);
}
