// SPDX-License-Identifier: Apache-2.0
#include "backends/report/Explanations.h"
#include "backends/figures/Figures.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::report;

void Explanations::writeNumber(llvm::json::OStream &J, __int128 Value,
                               const ExprTable &Sizes, ExprId From) {
  if (!From.isValid() || Sizes.constantAt(From)) {
    J.value(toString(Value));
    return;
  }
  J.object([&] {
    J.attribute("value", toString(Value));
    J.attribute("from", static_cast<int64_t>(add(Sizes, From)));
  });
}

/// Collects the operands of \p Of, without parentheses around sums of sums and
/// products of products.
static void flatten(const ExprTable &Sizes, ExprId Of, ExprOp Op,
                    std::vector<ExprId> &Out) {
  const ExprNode &N = Sizes[Of];
  if (N.Op != Op) {
    Out.push_back(Of);
    return;
  }
  flatten(Sizes, N.Left, Op, Out);
  flatten(Sizes, N.Right, Op, Out);
}

Explanations::Term Explanations::make(const ExprTable &Sizes, ExprId Of) {
  const ExprNode &N = Sizes[Of];
  Term T{"", Sizes.value(Of), {}, std::nullopt};
  if (N.Op == ExprOp::Constant)
    return T;
  if (N.Op == ExprOp::Key) {
    const auto Other = Specs.find(&Sizes);
    const Spec &S =
        Other == Specs.end() ? Request.Program.Spec : *Other->second;
    T.Key = operandsOf(S, Sizes, Of).front();
    if (T.Key->Definition.isValid())
      T.Of.push_back(add(Sizes, T.Key->Definition));
    return T;
  }
  T.Op = getSpelling(N.Op);
  std::vector<ExprId> Operands;
  if (N.Op == ExprOp::Add || N.Op == ExprOp::Mul)
    flatten(Sizes, Of, N.Op, Operands);
  else
    Operands = {N.Left, N.Right};
  for (const ExprId Each : Operands)
    T.Of.push_back(add(Sizes, Each));
  return T;
}

unsigned Explanations::add(const ExprTable &Sizes, ExprId Of) {
  if (const auto It = Known.find({&Sizes, Of.Index}); It != Known.end())
    return It->second;
  Term T = make(Sizes, Of);
  // Its name identifies a key, except for counts of stages.
  Content Same{T.Key ? "key " + T.Key->Name : T.Op.str(), T.Value, T.Of};
  const auto [It, IsNew] =
      Alike.try_emplace(std::move(Same), static_cast<unsigned>(All.size()));
  if (IsNew)
    All.push_back(std::move(T));
  return Known[{&Sizes, Of.Index}] = It->second;
}

/// Writes `["+", "12", 3, 4]`; a constant is `["", "12"]`, and a key an object.
void Explanations::write(llvm::json::OStream &J, const Term &T) const {
  const auto Value = [&] {
    if (T.Value == NoValue)
      J.value(nullptr);
    else
      J.value(toString(T.Value));
  };
  if (!T.Key) {
    J.array([&] {
      J.value(T.Op);
      Value();
      for (const unsigned Operand : T.Of)
        J.value(static_cast<int64_t>(Operand));
    });
    return;
  }
  J.object([&] {
    J.attribute("key", T.Key->Name);
    J.attributeBegin("value");
    Value();
    J.attributeEnd();
    J.attribute("why", getName(T.Key->Why));
    if (!T.Key->Counts.empty())
      J.attribute("counts", T.Key->Counts);
    if (T.Key->Range.isValid() && Request.Where)
      J.attribute("where", Request.Where(T.Key->Range));
    if (!T.Of.empty())
      J.attribute("from", static_cast<int64_t>(T.Of.front()));
  });
}

void Explanations::write(llvm::json::OStream &J) const {
  J.attributeArray("terms", [&] {
    for (const Term &T : All)
      write(J, T);
  });
}
