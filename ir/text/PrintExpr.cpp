// SPDX-License-Identifier: Apache-2.0
#include "ir/model/RealExpr.h"
#include "ir/model/SpecKeys.h"
#include "ir/text/Print.h"
#include "ir/text/TextWriter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

class ExprPrinter {
public:
  ExprPrinter(const Spec &S, const ExprTable &Sizes, llvm::raw_ostream &OS,
              bool IsInNumbers)
      : S(S), Sizes(Sizes), OS(OS), IsInNumbers(IsInNumbers) {}

  /// Prints parentheses if an operation binds less than \p Precedence.
  void print(ExprId I, unsigned Precedence);

private:
  void printName(Key K) { ir::printName(nameOf(S, K), OS); }
  void printInfix(ExprId I, unsigned Own, unsigned Precedence);
  void printCall(const ExprNode &N);

  const Spec &S;
  const ExprTable &Sizes;
  llvm::raw_ostream &OS;
  const bool IsInNumbers;
};

} // namespace

/// Operators of binding strength \p Own. There are as many summands as there
/// are blocks: no recursion for these.
void ExprPrinter::printInfix(ExprId I, unsigned Own, unsigned Precedence) {
  const ExprOp Op = Sizes[I].Op;
  llvm::SmallVector<ExprId, 16> Rights;
  for (; Sizes[I].Op == Op; I = caseOf(Sizes, Sizes[I].Left))
    Rights.push_back(Sizes[I].Right);
  OS << (Own < Precedence ? "(" : "");
  print(I, Own);
  for (const ExprId Right : llvm::reverse(Rights)) {
    OS << getSpelling(Op);
    print(Right, Own + 1);
  }
  OS << (Own < Precedence ? ")" : "");
}

void ExprPrinter::printCall(const ExprNode &N) {
  llvm::SmallVector<ExprId, 8> Operands = {N.Left};
  if (N.Op == ExprOp::Call)
    Operands = Sizes.operandsOf(N);
  else if (N.Right.isValid())
    Operands.push_back(N.Right);
  const llvm::StringRef Name = N.Op == ExprOp::Call
                                   ? llvm::StringRef(N.function().Name)
                                   : getSpelling(N.Op);
  OS << Name << '(';
  llvm::interleave(
      Operands, OS, [&](ExprId Operand) { print(Operand, 0); }, ",");
  OS << ')';
}

void ExprPrinter::print(ExprId I, unsigned Precedence) {
  I = caseOf(Sizes, I);
  const ExprNode &N = Sizes[I];
  switch (N.Op) {
  case ExprOp::Constant:
    if (N.Value != NoValue)
      OS << N.Value;
    else // reads back as it is
      OS << (Precedence > 2 ? "(1/0)" : "1/0");
    return;
  case ExprOp::Key:
    if (IsInNumbers)
      OS << Sizes.value(I);
    else
      printName(N.Key);
    return;
  case ExprOp::RealConstant:
  case ExprOp::RealTerm:
    if (IsInNumbers || !N.isNamed())
      printRounded(realOf(Sizes.value(I)), OS);
    else
      printName(N.Key);
    return;
  case ExprOp::Real: // numbers look alike
    print(N.Left, Precedence);
    return;
  case ExprOp::Add:
  case ExprOp::RealSum:
  case ExprOp::RealDifference:
    printInfix(I, 1, Precedence);
    return;
  case ExprOp::Mul:
  case ExprOp::Div:
  case ExprOp::RealProduct:
  case ExprOp::RealQuotient:
    printInfix(I, 2, Precedence);
    return;
  default:
    printCall(N);
  }
}

void foretrace::ir::printRounded(double Value, llvm::raw_ostream &OS) {
  OS << llvm::format("%.6g", Value);
}

void foretrace::ir::print(const Spec &S, const ExprTable &Sizes, ExprId E,
                          llvm::raw_ostream &OS, SizeStyle Style) {
  const int64_t Value = Sizes.value(E);
  if (Style == SizeStyle::Values && Value != NoValue) {
    OS << Value;
    return;
  }
  ExprPrinter(S, Sizes, OS, Style == SizeStyle::Numbers).print(E, 0);
  if (Style == SizeStyle::Both && Value != NoValue && !Sizes.constantAt(E))
    OS << '=' << Value;
}

void foretrace::ir::print(const Program &P, ExprId E, llvm::raw_ostream &OS,
                          SizeStyle Style) {
  print(P.Spec, P.Sizes, E, OS, Style);
}
