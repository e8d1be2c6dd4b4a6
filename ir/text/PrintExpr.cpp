// SPDX-License-Identifier: Apache-2.0
#include "ir/model/RealExpr.h"
#include "ir/model/SpecKeys.h"
#include "ir/text/Print.h"
#include "ir/text/TextWriter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Format.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Parentheses stand where something binds less than \p Precedence.
static void print(const Spec &S, const ExprTable &Sizes, ExprId I,
                  unsigned Precedence, llvm::raw_ostream &OS,
                  bool IsInNumbers) {
  const ExprNode &N = Sizes[I];
  switch (N.Op) {
  case ExprOp::Constant:
    if (N.Value != NoValue)
      OS << N.Value;
    else // reads back as it is
      OS << (Precedence > 2 ? "(1/0)" : "1/0");
    return;
  case ExprOp::RealConstant:
    if (N.isNamed() && !IsInNumbers)
      printName(nameOf(S, N.Key), OS);
    else
      OS << llvm::format("%.6g", realOf(N.Value));
    return;
  case ExprOp::RealTerm:
    if (IsInNumbers)
      OS << llvm::format("%.6g", realOf(Sizes.value(I)));
    else
      printName(nameOf(S, N.Key), OS);
    return;
  case ExprOp::Real: // numbers look alike
    print(S, Sizes, N.Left, Precedence, OS, IsInNumbers);
    return;
  case ExprOp::Key:
    if (IsInNumbers)
      OS << Sizes.value(I);
    else
      printName(nameOf(S, N.Key), OS);
    return;
  case ExprOp::Floor:
  case ExprOp::Ceil:
  case ExprOp::Mod:
  case ExprOp::Min:
  case ExprOp::Max:
  case ExprOp::Less:
  case ExprOp::Equal:
  case ExprOp::Lcm:
  case ExprOp::RealMin:
  case ExprOp::RealMax:
  case ExprOp::RealRoot:
  case ExprOp::RealLog:
  case ExprOp::RealIf:
  case ExprOp::RealLess:
  case ExprOp::RealNanoseconds:
    OS << getSpelling(N.Op) << '(';
    print(S, Sizes, N.Left, 0, OS, IsInNumbers);
    if (N.Right.isValid()) {
      OS << ',';
      print(S, Sizes, N.Right, 0, OS, IsInNumbers);
    }
    OS << ')';
    return;
  case ExprOp::Add:
  case ExprOp::Mul:
  case ExprOp::Div:
  case ExprOp::RealSum:
  case ExprOp::RealDifference:
  case ExprOp::RealProduct:
  case ExprOp::RealQuotient: {
    // As many summands as there are blocks: no recursion for these.
    llvm::SmallVector<ExprId, 16> Rights;
    ExprId First = I;
    for (; Sizes[First].Op == N.Op; First = Sizes[First].Left)
      Rights.push_back(Sizes[First].Right);
    const unsigned Own = N.Op == ExprOp::Add || N.Op == ExprOp::RealSum ||
                                 N.Op == ExprOp::RealDifference
                             ? 1
                             : 2;
    OS << (Own < Precedence ? "(" : "");
    print(S, Sizes, First, Own, OS, IsInNumbers);
    for (const ExprId Right : llvm::reverse(Rights)) {
      OS << getSpelling(N.Op);
      print(S, Sizes, Right, Own + 1, OS, IsInNumbers);
    }
    OS << (Own < Precedence ? ")" : "");
    return;
  }
  }
  llvm_unreachable("every operation is handled");
}

void foretrace::ir::print(const Spec &S, const ExprTable &Sizes, ExprId E,
                          llvm::raw_ostream &OS, SizeStyle Style) {
  const int64_t Value = Sizes.value(E);
  if (Style == SizeStyle::Values && Value != NoValue) {
    OS << Value;
    return;
  }
  ::print(S, Sizes, E, 0, OS, Style == SizeStyle::Numbers);
  if (Style == SizeStyle::Both && Value != NoValue && !Sizes.constantAt(E))
    OS << '=' << Value;
}

void foretrace::ir::print(const Program &P, ExprId E, llvm::raw_ostream &OS,
                          SizeStyle Style) {
  print(P.Spec, P.Sizes, E, OS, Style);
}
