// SPDX-License-Identifier: Apache-2.0
#include "analysis/Derivation.h"
#include "ir/text/Print.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;

namespace foretrace {

Subject describeOp(const ir::Block &B, const ir::Op &O) {
  Subject S;
  raw_string_ostream OS(S.What);
  OS << B.Name << '/' << O.Name << ": " << getMnemonic(O.Kind)
     << getSuffix(O.Derivative);
  if (!O.Group.empty())
    OS << '(' << O.Group << ')';
  if (isCollective(O.Kind) && O.For.isValid())
    OS << " for " << B.Ops[O.For].Name;
  OS << ", " << getName(O.Phase);
  S.Origin = O.Origin;
  return S;
}

const ir::Block &blockOf(const ir::Program &P, const ir::Op &O) {
  return *find_if(P.Blocks, [&](const ir::Block &B) {
    return any_of(B.Ops, [&](const ir::Op &Other) { return &Other == &O; });
  });
}

Subject describeOp(const ir::Program &P, const ir::Op &O) {
  return describeOp(blockOf(P, O), O);
}

StringRef unitName(FigureUnit U) {
  switch (U) {
  case FigureUnit::Text:
    return "";
  case FigureUnit::Count:
  case FigureUnit::LargeCount:
  case FigureUnit::Flag:
    return "in all";
  case FigureUnit::Bytes:
    return "bytes";
  case FigureUnit::Flops:
    return "FLOPs";
  case FigureUnit::Millionths:
  case FigureUnit::HalfRange:
    return "millionths";
  case FigureUnit::Time:
    return "ns";
  }
  llvm_unreachable("every unit is handled");
}

DerivedOperand makeStated(StringRef Name, int64_t Value, StringRef Unit,
                          SourceRange Range) {
  DerivedOperand O;
  O.Name = Name.str();
  O.Value = Value;
  O.Unit = Unit;
  O.Why = Range.isValid() ? Reason::Stated : Reason::Derived;
  O.Range = Range;
  return O;
}

DerivedOperand makeDerived(std::string Name, int64_t Value, StringRef Unit,
                           Derivation From) {
  DerivedOperand O;
  O.Name = std::move(Name);
  O.Value = Value;
  O.Unit = Unit;
  O.Definition = std::move(From);
  return O;
}

static std::string fill(StringRef Formula, ArrayRef<DerivedOperand> Operands,
                        bool WithNumbers) {
  std::string Text;
  while (!Formula.empty()) {
    const auto [Before, Rest] = Formula.split('$');
    Text += Before;
    Formula = Rest;
    size_t Index;
    if (Formula.consumeInteger(10, Index))
      break;
    const DerivedOperand &O = Operands[Index];
    Text += WithNumbers ? std::to_string(O.Value) : O.Name;
  }
  return Text;
}

Derivation makeDerivation(StringRef Formula,
                          std::vector<DerivedOperand> Operands) {
  std::string Names = fill(Formula, Operands, false);
  std::string Numbers = fill(Formula, Operands, true);
  return {std::move(Names), std::move(Numbers), std::move(Operands)};
}

DerivedOperand FigureMaker::operandOf(ir::KeyOperand Key) const {
  DerivedOperand O;
  O.Name = std::move(Key.Name);
  O.Value = Key.Value;
  O.Why = Key.Why;
  O.Range = Key.Range;
  O.Counts = Key.Counts;
  O.Real = Key.Real;
  if (Key.Definition.isValid())
    O.Definition = derive(Key.Definition);
  return O;
}

Derivation FigureMaker::derive(ir::ExprId Of) const {
  Derivation D;
  raw_string_ostream Names(D.Names), Numbers(D.Numbers);
  ir::print(Job, Sizes, Of, Names);
  ir::print(Job, Sizes, Of, Numbers, ir::SizeStyle::Numbers);
  for (ir::KeyOperand &Key : ir::operandsOf(Job, Sizes, Of))
    D.Operands.push_back(operandOf(std::move(Key)));
  return D;
}

DerivedFigure FigureMaker::make(std::string What, ir::ExprId Of,
                                StringRef Unit) const {
  return {std::move(What), Sizes.value(Of), Unit, derive(Of)};
}

} // namespace foretrace
