// SPDX-License-Identifier: Apache-2.0
#include "backends/report/Explanations.h"
#include "backends/figures/Figures.h"
#include "ir/text/Print.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::report;

size_t Explanations::add(const ExprTable &Sizes, ExprId Of) {
  const auto [It, IsNew] = Known.try_emplace({&Sizes, Of.Index}, All.size());
  if (IsNew)
    All.push_back({&Sizes, Of});
  return It->second;
}

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

/// What is long ends in dots, and a page stays small.
std::string Explanations::print(Entry E, bool IsInNumbers) {
  constexpr size_t MaxText = 4000, MaxPage = 300000;
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  ir::print(Request.Program.Spec, *E.Sizes, E.Of, OS,
            IsInNumbers ? SizeStyle::Numbers : SizeStyle::Names);
  const size_t Room = std::min(MaxText, MaxPage - std::min(MaxPage, Written));
  if (Text.size() > Room)
    Text = Text.substr(0, Room) + "...";
  Written += Text.size();
  return Text;
}

size_t Explanations::addKey(const ExprTable &Sizes, KeyOperand O) {
  const auto [It, IsNew] =
      KnownKeys.try_emplace({O.Name, O.Value}, Keys.size());
  if (IsNew) {
    std::optional<size_t> From;
    if (O.Definition.isValid())
      From = add(Sizes, O.Definition);
    Keys.push_back({std::move(O), From});
  }
  return It->second;
}

void Explanations::write(llvm::json::OStream &J, Entry E) {
  if (const int64_t Value = E.Sizes->value(E.Of); Value != NoValue)
    J.attribute("value", toString(Value));
  J.attribute("names", print(E, /*IsInNumbers=*/false));
  J.attribute("numbers", print(E, /*IsInNumbers=*/true));
  J.attributeArray("operands", [&] {
    for (KeyOperand &O : operandsOf(Request.Program.Spec, *E.Sizes, E.Of))
      J.value(static_cast<int64_t>(addKey(*E.Sizes, std::move(O))));
  });
}

void Explanations::write(llvm::json::OStream &J, const Key &K) {
  J.attribute("key", K.Of.Name);
  J.attribute("value", std::to_string(K.Of.Value));
  J.attribute("why", getName(K.Of.Why));
  if (!K.Of.Counts.empty())
    J.attribute("counts", K.Of.Counts);
  if (K.Of.Range.isValid() && Request.Where)
    J.attribute("where", Request.Where(K.Of.Range));
  if (K.From)
    J.attribute("from", static_cast<int64_t>(*K.From));
}

void Explanations::write(llvm::json::OStream &J) {
  J.attributeArray("expressions", [&] {
    for (size_t I = 0; I < All.size(); ++I) // more come by
      J.object([&] { write(J, All[I]); });
  });
  J.attributeArray("keys", [&] {
    for (const Key &K : Keys)
      J.object([&] { write(J, K); });
  });
}
