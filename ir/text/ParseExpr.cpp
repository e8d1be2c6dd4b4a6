// SPDX-License-Identifier: Apache-2.0
#include "ir/text/ParseExpr.h"
#include "ir/model/Measure.h"
#include "ir/model/SpecKeys.h"
#include "lang/diagnostics/IR.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

class ExprParser {
public:
  ExprParser(TextReader &In, Program &P) : In(In), P(P) {}

  bool sum(ExprId &Out, unsigned Depth = 0);

private:
  bool product(ExprId &Out, unsigned Depth);
  bool primary(ExprId &Out, unsigned Depth);
  bool call(ExprOp Op, ExprId &Out, unsigned Depth);
  bool key(ExprId &Out);

  /// Deeper than any size is, and little enough for any stack.
  static constexpr unsigned MaxDepth = 64;

  TextReader &In;
  Program &P;
};

} // namespace

bool ExprParser::sum(ExprId &Out, unsigned Depth) {
  if (Depth > MaxDepth)
    return In.expected("a size with fewer parentheses");
  // Added all at once: one by one, each sum would sort its terms again.
  llvm::SmallVector<ExprId, 8> Summands;
  do {
    if (!product(Summands.emplace_back(), Depth))
      return false;
  } while (In.takePunct("+"));
  Out = Summands.size() == 1 ? Summands.front() : P.Sizes.sum(Summands);
  return true;
}

bool ExprParser::product(ExprId &Out, unsigned Depth) {
  llvm::SmallVector<ExprId, 8> Factors(1);
  if (!primary(Factors.back(), Depth))
    return false;
  auto Multiply = [&] {
    return Factors.size() == 1 ? Factors.front() : P.Sizes.product(Factors);
  };
  for (;;) {
    if (In.takePunct("*")) {
      if (!primary(Factors.emplace_back(), Depth))
        return false;
      continue;
    }
    Out = Multiply();
    if (!In.takePunct("/"))
      return true;
    ExprId Divisor;
    if (!primary(Divisor, Depth))
      return false;
    Factors.assign(1, P.Sizes.div(Out, Divisor));
  }
}

bool ExprParser::primary(ExprId &Out, unsigned Depth) {
  if (In.takePunct("("))
    return sum(Out, Depth + 1) && In.expectPunct(")");
  if (In.peek().is(Token::Kind::Integer)) {
    int64_t Value;
    if (!In.expectInteger(NoValue + 1, Value))
      return false;
    Out = P.Sizes.constant(Value);
    return true;
  }
  for (const ExprOp Op :
       {ExprOp::Floor, ExprOp::Ceil, ExprOp::Mod, ExprOp::Min, ExprOp::Max,
        ExprOp::Less, ExprOp::Equal, ExprOp::Lcm})
    if (In.takeWord(getSpelling(Op)))
      return call(Op, Out, Depth);
  return key(Out);
}

bool ExprParser::call(ExprOp Op, ExprId &Out, unsigned Depth) {
  ExprId Left, Right;
  if (!In.expectPunct("(") || !sum(Left, Depth + 1) || !In.expectPunct(",") ||
      !sum(Right, Depth + 1) || !In.expectPunct(")"))
    return false;
  Out = P.Sizes.combine(Op, Left, Right);
  return true;
}

bool ExprParser::key(ExprId &Out) {
  Token T;
  std::string Name;
  if (!In.expectName("a number or a key", T) || !In.text(T, Name))
    return false;
  const std::optional<Key> K = findKey(P.Spec, Name);
  const Located<int64_t> *Field = K ? findField(P.Spec, *K) : nullptr;
  if (!K || (Field && !Field->isPresent()))
    return In.unknown(T, "a number of the spec", {});
  // A count of a stage is neither a field nor an axis.
  const std::optional<Axis> A = findAxis(Name);
  Out = P.Sizes.key(*K, Field ? **Field : A ? P.Mesh[*A] : 0);
  return true;
}

bool foretrace::ir::expectExpr(TextReader &In, Program &P, ExprId &Out) {
  return ExprParser(In, P).sum(Out);
}

bool foretrace::ir::expectTotal(TextReader &In, Program &P, const Token &Word,
                                ExprId &Out) {
  if (Out.isValid())
    return In.twice(Word, "total");
  return In.expectPunct("=") && expectExpr(In, P, Out);
}

bool foretrace::ir::expectMessages(TextReader &In, Program &P,
                                   std::vector<GroupBytes> &Out) {
  GroupBytes &G = Out.emplace_back();
  return In.expectPunct("(") && In.expectGroup(G.Of) && In.expectPunct(")") &&
         In.expectPunct("=") && expectExpr(In, P, G.Size.Id);
}

/// An axis takes part in a layout once.
static bool claim(TextReader &In, llvm::ArrayRef<Axis> Axes, AxisList &Seen,
                  SourceRange Range) {
  for (Axis A : Axes) {
    if (llvm::is_contained(Seen, A)) {
      In.Diags.report(Range, diag::IrBadLayout, getName(A));
      return false;
    }
    Seen.push_back(A);
  }
  return true;
}

static bool expectDim(TextReader &In, Program &P, TensorType &T, Layout &L,
                      AxisList &Seen) {
  const Token Name = In.peek();
  Dim D{};
  if (Token Taken; !In.expectName("a dimension", Taken))
    return false;
  const std::optional<DimKind> Kind = findDim(P.Spec, Name.Text);
  if (!Kind)
    return In.unknown(Name, "a dimension", dimNames(P.Spec));
  D.Kind = *Kind;
  if (T.indexOf(D.Kind) >= 0 && !canRepeat(infoOf(P.Spec, D.Kind)))
    return In.twice(Name, "dimension");
  if (!In.expectPunct(":"))
    return false;
  const SourceRange At = In.peek().Range;
  if (!expectExpr(In, P, D.Size))
    return false;
  const int64_t Size = P.Sizes.value(D.Size);
  if (Size == NoValue && P.Sizes.constantAt(D.Size)) {
    In.Diags.report(At, diag::IrNumber, "this size",
                    "is beyond 2^63, or a quotient with a rest");
    return false;
  }
  if (Size != NoValue && Size < 1) {
    In.Diags.report(At, diag::IrNumber, Size, "is too small; the least is 1");
    return false;
  }
  T.Dims.push_back(D);
  const SourceRange Range = In.peek().Range;
  AxisList Axes;
  if (!In.takePunct("@"))
    return true;
  if (!In.expectAxes(Axes) || !claim(In, Axes, Seen, Range))
    return false;
  for (Axis A : Axes)
    L.setSplit(A, static_cast<unsigned>(T.Dims.size() - 1));
  return true;
}

static bool expectStates(TextReader &In, Layout &L, AxisList &Seen) {
  static constexpr struct {
    llvm::StringLiteral Word;
    void (Layout::*Set)(Axis);
  } States[] = {{"partial", &Layout::setPartial},
                {"flat", &Layout::setFlat},
                {"single", &Layout::setSingle}};
  for (const auto &State : States) {
    const SourceRange Range = In.peek().Range;
    if (!In.takeWord(State.Word))
      continue;
    AxisList Axes;
    if (!In.expectPunct("(") || !In.expectAxes(Axes) || !In.expectPunct(")") ||
        !claim(In, Axes, Seen, Range))
      return false;
    for (Axis A : Axes)
      (L.*State.Set)(A);
  }
  return true;
}

bool foretrace::ir::expectType(TextReader &In, Program &P, TensorType &T,
                               Layout &L) {
  AxisList Seen;
  if (!In.expectSpelling("an element type", T.Element) || !In.expectPunct("["))
    return false;
  while (!In.takePunct("]"))
    if (!expectDim(In, P, T, L, Seen))
      return false;
  return expectStates(In, L, Seen);
}
