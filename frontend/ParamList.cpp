// SPDX-License-Identifier: Apache-2.0
#include "frontend/ParamList.h"
#include "frontend/Bind.h"
#include "frontend/ParamValues.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;

static ParamEntry::Kind kindOf(const ExprValue &V) {
  using Kind = ParamEntry::Kind;
  if (V.getIf<bool>())
    return Kind::Flag;
  return V.getIf<int64_t>() && V.Dim == Dimension::Count ? Kind::Count
                                                         : Kind::Other;
}

/// \p V, the value of \p Of, as -D takes it.
static std::string textOf(const ExprValue &V, const ast::Expr &Of,
                          const SourceFiles &Sources) {
  return kindOf(V) == ParamEntry::Kind::Other ? Sources.slice(Of.Range).str()
                                              : *format(V);
}

static std::optional<ParamEntry> entryOf(Symbol &S, Evaluator &Eval,
                                         const SourceFiles &Sources) {
  const std::optional<ExprValue> &V = Eval.evaluate(S, S.Name.Range);
  if (!V)
    return std::nullopt;
  ParamEntry P{S.Name.Text,
               kindOf(*V),
               textOf(*V, *S.Definition, Sources),
               S.Definition->Range,
               {}};
  for (const ast::ExprPtr &Element : S.Param->Domain)
    if (const auto Allowed = Eval.evaluate(*Element, *S.Home)) {
      P.Domain.push_back(textOf(*Allowed, *Element, Sources));
      if (format(*Allowed) == format(*V))
        P.Value = P.Domain.back(); // `"a"` for a word, `64Ki` for an expression
    }
  return P;
}

std::vector<ParamEntry> foretrace::paramsOf(llvm::ArrayRef<JobFile *> Units,
                                            Evaluator &Eval,
                                            const SourceFiles &Sources) {
  std::vector<ParamEntry> All;
  for (JobFile *U : llvm::reverse(Units))
    for (Symbol &S : U->Names.symbols())
      if (S.Param && llvm::none_of(All, [&](const ParamEntry &P) {
            return P.Name == S.Name.Text;
          }))
        if (std::optional<ParamEntry> P = entryOf(S, Eval, Sources))
          All.push_back(std::move(*P));
  return All;
}
