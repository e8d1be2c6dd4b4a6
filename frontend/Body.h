// SPDX-License-Identifier: Apache-2.0
//
// A section with its conditions decided and its bases merged in: keys in
// order, each with the scope its value is evaluated in.
#ifndef FORETRACE_FRONTEND_BODY_H
#define FORETRACE_FRONTEND_BODY_H

#include "frontend/Evaluate.h"
#include <deque>

namespace foretrace {

/// `key = value`, not yet evaluated.
struct Field {
  ast::Word Key;
  const ast::Expr *Value;
  const Scope *Names;
};

struct Body {
  ast::Word Keyword, Label;
  SourceRange Range;
  std::vector<Field> Fields; ///< unique by key
  std::vector<Body> Sections;

  const Field *findField(llvm::StringRef Key) const;
  const Body *findSection(llvm::StringRef Keyword) const;
};

/// Builds bodies from entries. Owns the scopes of sections, so bodies live no
/// longer than it.
class BodyBuilder {
public:
  BodyBuilder(Evaluator &Eval, DiagnosticEngine &Diags)
      : Eval(Eval), Diags(Diags) {}

  /// Lays \p S over \p Into: its keys override, its sections merge, a block
  /// by its label. A key twice in \p S itself is reported.
  void merge(Body &Into, const ast::Section &S, const Scope &Names);
  /// Lays one key over \p Into.
  static void override(Body &Into, Field F);
  /// Reports a condition that doesn't hold.
  void check(const ast::Require &R, const Scope &Names);

private:
  struct Flat;
  void flatten(const std::vector<ast::Entry> &Entries, Scope &Names, Flat &Out);

  Evaluator &Eval;
  DiagnosticEngine &Diags;
  std::deque<Scope> Scopes;
};

} // namespace foretrace

#endif
