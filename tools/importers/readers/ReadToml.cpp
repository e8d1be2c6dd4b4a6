// SPDX-License-Identifier: Apache-2.0
//
// TOML, by the parser of jobs.
#include "frontend/Parse.h"
#include "tools/importers/formulas/ForeignValue.h"

using namespace llvm;

namespace foretrace::importers {

static ForeignValue valueOf(const ast::Expr &E);

static ForeignValue negate(ForeignValue V) {
  return V.Is == ForeignValue::Kind::Integer
             ? ForeignValue::of(-V.Integer, V.Range)
             : ForeignValue::of(-V.Real, V.Range);
}

static ForeignValue valueOf(const ast::Expr &E) {
  if (const auto *N = std::get_if<ast::Number>(&E.Node))
    return readScalar(N->Digits, E.Range);
  if (const auto *S = std::get_if<ast::String>(&E.Node))
    return ForeignValue::of(S->Value, E.Range);
  if (const auto *B = std::get_if<ast::Boolean>(&E.Node))
    return ForeignValue::of(B->Value, E.Range);
  if (const auto *U = std::get_if<ast::Unary>(&E.Node))
    return negate(valueOf(*U->Operand));
  std::vector<ForeignValue> Elements;
  for (const ast::ExprPtr &Element : std::get<ast::List>(E.Node).Elements)
    Elements.push_back(valueOf(*Element));
  return ForeignValue::of(std::move(Elements), E.Range);
}

static ForeignValue valueOf(const ast::Section &S) {
  std::vector<ForeignValue::Member> Members;
  for (const ast::Entry &E : S.Entries)
    if (const auto *Inner = std::get_if<ast::Section>(&E.Node))
      Members.push_back({Inner->Keyword, valueOf(*Inner)});
    else if (const auto *A = std::get_if<ast::Assignment>(&E.Node))
      Members.push_back({A->Key, valueOf(*A->Value)});
  return ForeignValue::of(std::move(Members), S.Range);
}

std::optional<ForeignValue> readToml(SourceText Text, DiagnosticEngine &Diags) {
  const std::optional<ast::Section> Read = parseToml(Text, Diags);
  if (!Read || Diags.hasErrors())
    return std::nullopt;
  return valueOf(*Read);
}

} // namespace foretrace::importers
