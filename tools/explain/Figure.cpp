// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/Figure.h"
#include "ir/Print.h"
#include "ir/SpecKeys.h"
#include "llvm/ADT/SetVector.h"

using namespace llvm;

namespace foretrace::explain {

StringRef getName(Reason R) {
  static constexpr StringLiteral Names[] = {"stated", "default", "derived",
                                            "counted"};
  return Names[static_cast<size_t>(R)];
}

Operand makeStated(StringRef Name, int64_t Value, StringRef Unit,
                   SourceRange Range) {
  Operand O;
  O.Name = Name.str();
  O.Value = Value;
  O.Unit = Unit;
  O.Why = Range.isValid() ? Reason::Stated : Reason::Derived;
  O.Range = Range;
  return O;
}

Operand makeDerived(std::string Name, int64_t Value, StringRef Unit,
                    Derivation From) {
  Operand O;
  O.Name = std::move(Name);
  O.Value = Value;
  O.Unit = Unit;
  O.Definition = std::move(From);
  return O;
}

static std::string fill(StringRef Formula, ArrayRef<Operand> Operands,
                        bool WithNumbers) {
  std::string Text;
  for (size_t I = 0; I < Formula.size(); ++I) {
    if (Formula[I] != '$') {
      Text += Formula[I];
      continue;
    }
    const Operand &O = Operands[static_cast<size_t>(Formula[++I] - '0')];
    Text += WithNumbers ? std::to_string(O.Value) : O.Name;
  }
  return Text;
}

Derivation makeDerivation(StringRef Formula, std::vector<Operand> Operands) {
  std::string Names = fill(Formula, Operands, false);
  std::string Numbers = fill(Formula, Operands, true);
  return {std::move(Names), std::move(Numbers), std::move(Operands)};
}

/// What a number of a stage counts.
static StringRef describeCount(ir::KeyId Id) {
  switch (Id) {
#define EXPR_SYMBOL(ENUMERATOR, NAME, DOC)                                     \
  case ir::KeyId::ENUMERATOR:                                                  \
    return DOC;
#include "ir/Exprs.def"
  default:
    return "";
  }
}

/// The keys of \p Of, from left to right; not those that they follow from.
static void collectKeys(const ir::ExprTable &Sizes, ir::ExprId Of,
                        SmallSetVector<unsigned, 8> &Keys) {
  const ir::ExprNode &N = Sizes[Of];
  if (N.Op == ir::ExprOp::Constant)
    return;
  if (N.Op == ir::ExprOp::Key) {
    Keys.insert(Of.Index);
    return;
  }
  collectKeys(Sizes, N.Left, Keys);
  collectKeys(Sizes, N.Right, Keys);
}

Operand FigureMaker::operandOf(ir::ExprId Leaf) const {
  const ir::ExprNode &N = P.Sizes[Leaf];
  Operand O;
  O.Name = nameOf(P.Spec, N.Key);
  O.Value = P.Sizes.value(Leaf);
  if (ir::isOfStage(N.Key.Id)) {
    O.Why = Reason::Counted;
    O.Counts = describeCount(N.Key.Id);
    return O;
  }
  if (N.Left.isValid()) {
    O.Definition = derive(N.Left);
    return O;
  }
  // What follows from nothing else is stated, or a default.
  const Located<int64_t> &Field = *findField(P.Spec, N.Key);
  O.Why = Field.Range.isValid() ? Reason::Stated : Reason::Default;
  O.Range = Field.Range;
  return O;
}

Derivation FigureMaker::derive(ir::ExprId Of) const {
  Derivation D;
  raw_string_ostream Names(D.Names), Numbers(D.Numbers);
  ir::print(P, Of, Names);
  ir::print(P, Of, Numbers, ir::SizeStyle::Numbers);
  SmallSetVector<unsigned, 8> Keys;
  collectKeys(P.Sizes, Of, Keys);
  for (const unsigned Index : Keys)
    D.Operands.push_back(operandOf(ir::ExprId(Index)));
  return D;
}

Figure FigureMaker::make(std::string What, ir::ExprId Of,
                         StringRef Unit) const {
  return {std::move(What), P.Sizes.value(Of), Unit, derive(Of)};
}

} // namespace foretrace::explain
