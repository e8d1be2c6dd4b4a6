// SPDX-License-Identifier: Apache-2.0
#include "ir/model/LayerUse.h"
#include "ir/model/SpecFields.h"
#include "lang/ShippedLayers.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

llvm::StringRef LayerKey::type() const {
  static constexpr llvm::StringLiteral Types[] = {"Natural", "Bool", "Word"};
  return Declared && Declared->Can.ArePositive ? "Int" : Types[Value.index()];
}

/// The key of the job that an expression is, or null.
static const FieldRow *findRow(const layers::Expr &E) {
  const auto *Found = llvm::find_if(FieldRows, [&](const FieldRow &Row) {
    return E.Is == layers::Expr::Kind::Name && isAt(Row, E.Text);
  });
  return Found == std::end(FieldRows) ? nullptr : Found;
}

/// Returns whether \p E is a condition, as far as its form says it.
static bool isCondition(const layers::Expr &E) {
  using Kind = layers::Expr::Kind;
  if (E.Is == Kind::Conditional)
    return isCondition(E.Operands[1]);
  const FieldRow *Row = findRow(E);
  return E.Is == Kind::Not || (E.Is >= Kind::Eq && E.Is <= Kind::Or) ||
         E.Text == "true" || E.Text == "false" || (Row && Row->Type == "Bool");
}

static bool isWord(const layers::Expr &E) {
  using Kind = layers::Expr::Kind;
  static constexpr llvm::StringLiteral Counts[] = {"Int", "Natural"};
  if (E.Is == Kind::Conditional)
    return isWord(E.Operands[1]);
  const FieldRow *Row = findRow(E);
  return E.Is == Kind::String ||
         (Row && !llvm::is_contained(Counts, Row->Type));
}

/// Sets the type of a key. Without stated values it is that of the default;
/// without a default it is a count.
static void setType(LayerKey &Key, llvm::ArrayRef<LayerKey> Before) {
  const layers::Statement &S = *Key.Declared;
  const layers::Expr *Default = S.Values.empty() ? nullptr : S.Values.begin();
  if (!S.Can.Words.empty())
    Key.Value.emplace<Located<std::string>>();
  if (!Default || !S.Can.Words.empty() || S.Can.ArePositive)
    return;
  for (const LayerKey &Other : Before)
    if (Default->Is == layers::Expr::Kind::Name &&
        Default->Text == Other.Name) {
      if (Other.Value.index() == 1)
        Key.Value.emplace<Located<bool>>();
      if (Other.Value.index() == 2)
        Key.Value.emplace<Located<std::string>>();
      return;
    }
  if (isCondition(*Default))
    Key.Value.emplace<Located<bool>>();
  else if (isWord(*Default))
    Key.Value.emplace<Located<std::string>>();
}

LayerKey *LayerUse::findKey(llvm::StringRef Of) {
  for (LayerKey &Key : Keys)
    if (Key.Name == Of)
      return &Key;
  return nullptr;
}

LayerUse LayerUse::of(const layers::Layer &L) {
  LayerUse Use;
  Use.Kind = L.Name.str();
  Use.Is = &L;
  for (const layers::Statement &S : L.Body) {
    if (!S.isKey())
      continue;
    LayerKey Key;
    Key.Name = S.Name.str();
    Key.Declared = &S;
    Key.IsOfBlock = isOfBlock(L, S.Name);
    setType(Key, Use.Keys);
    Use.Keys.push_back(std::move(Key));
  }
  return Use;
}
