// SPDX-License-Identifier: Apache-2.0
#include "ir/model/Operands.h"
#include "ir/model/RealExpr.h"
#include "ir/model/SpecKeys.h"
#include "llvm/ADT/SetVector.h"

using namespace foretrace;
using namespace foretrace::ir;

llvm::StringRef foretrace::ir::getName(Reason R) {
  static constexpr llvm::StringLiteral Names[] = {"stated", "default",
                                                  "derived", "counted"};
  return Names[static_cast<size_t>(R)];
}

/// Returns a description of the number of a stage.
static llvm::StringRef describeCount(KeyId Id) {
  switch (Id) {
#define EXPR_SYMBOL(ENUMERATOR, NAME, DOC)                                     \
  case KeyId::ENUMERATOR:                                                      \
    return DOC;
#include "ir/model/Exprs.def"
  default:
    return "";
  }
}

static void collectKeys(const ExprTable &Sizes, ExprId Of,
                        llvm::SmallSetVector<unsigned, 8> &Keys) {
  Of = caseOf(Sizes, Of);
  const ExprNode &N = Sizes[Of];
  const bool IsParameter = N.Op == ExprOp::RealConstant && N.isNamed();
  if (N.Op == ExprOp::Key || N.Op == ExprOp::RealTerm || IsParameter) {
    Keys.insert(Of.Index);
    return;
  }
  for (const ExprId Operand : {N.Left, N.Right})
    if (Operand.isValid())
      collectKeys(Sizes, Operand, Keys);
}

/// Returns where a parameter of a law, or the device's rate, is stated.
static SourceRange rangeOf(const CostSpec &C, Key K) {
  switch (K.Id) {
#define DEVICE_FIELD(TYPE, MEMBER, ...)                                        \
  case KeyId::Device##MEMBER:                                                  \
    return C.Device.MEMBER.Range;
#include "ir/model/Spec.def"
  default:
    break;
  }
  const auto It = llvm::find_if(C.Kernels, [&](const KernelParameter &Stated) {
    return static_cast<unsigned>(Stated.Id) == K.Block;
  });
  if (It == C.Kernels.end())
    return {};
  return It->At.isValid() ? It->At : It->Range;
}

static KeyOperand operandOf(const Spec &S, const ExprTable &Sizes,
                            ExprId Leaf) {
  const ExprNode &N = Sizes[Leaf];
  KeyOperand O{nameOf(S, N.Key), Sizes.value(Leaf), Reason::Derived};
  if (isOfStage(N.Key.Id) || isOfPlace(N.Key.Id)) {
    O.Why = Reason::Counted;
    O.Counts = describeCount(N.Key.Id);
    return O;
  }
  if (N.Op != ExprOp::Key)
    O.Real = realOf(O.Value);
  if (N.Left.isValid()) {
    O.Definition = N.Left;
    return O;
  }
  // A number without a definition is stated, or a default.
  O.Range = O.Real ? rangeOf(S.Cost, N.Key) : findField(S, N.Key)->Range;
  O.Why = O.Range.isValid() ? Reason::Stated : Reason::Default;
  return O;
}

std::vector<KeyOperand>
foretrace::ir::operandsOf(const Spec &S, const ExprTable &Sizes, ExprId Of) {
  llvm::SmallSetVector<unsigned, 8> Keys;
  collectKeys(Sizes, Of, Keys);
  std::vector<KeyOperand> Operands;
  for (const unsigned Index : Keys)
    Operands.push_back(operandOf(S, Sizes, ExprId(Index)));
  return Operands;
}
