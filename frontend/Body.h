// SPDX-License-Identifier: Apache-2.0
//
// A section with its conditions decided and its bases merged in: keys in
// order, each with the scope its value is evaluated in.
// Private to the frontend.
#pragma once

#include "frontend/Evaluate.h"
#include <deque>

namespace foretrace {

/// `key = value`, not yet evaluated.
struct Field {
  ast::Word Key;
  const ast::Expr *Value;
  const Scope *Names;
  bool IsGiven = false; ///< with -D
};

/// `-D parallel.tp=8`, `-D model.moe.ffn.intermediate=512`: a key of a section
/// within sections.
struct Override {
  ast::Word Top;                   ///< `model`, `train`, ...; empty for a param
  std::vector<ast::Word> Sections; ///< below it, outermost first
  Field Key;

  /// `parallel.tp`, of a key or a param.
  std::string path() const;
};

struct Body {
  ast::Word Keyword, Label;
  SourceRange Range;
  std::vector<Field> Fields; ///< unique by key
  std::vector<Body> Sections;

  const Field *findField(llvm::StringRef Key) const;
  const Body *findSection(llvm::StringRef Keyword) const;
};

/// Keys and sections that one has at most: each is compared with all others.
constexpr size_t MaxEntries = 4096;

/// Builds bodies from entries. Owns the scopes of sections, so bodies live no
/// longer than it.
class BodyBuilder {
public:
  BodyBuilder(Evaluator &Eval, DiagnosticEngine &Diags)
      : Eval(Eval), Diags(Diags) {}

  /// Lays \p S over \p Into: its keys override, its sections merge, a block
  /// by its label. A key twice in \p S itself is reported.
  void merge(Body &Into, const ast::Section &S, const Scope &Names);
  /// Merges the table that is the value of \p F; false, and reported, if it is
  /// no table.
  bool mergeTable(Body &Into, const Field &F);
  /// Merges the table that \p Base names.
  bool mergeBase(Body &Into, const ast::Word &Base, const Scope &Names);
  /// Lays the keys and sections of \p Over over \p Into.
  static void lay(Body &Into, const Body &Over);
  /// Lays \p O over \p Into, the section \p O.Top. Sections on its path that
  /// are not there are made: binding reports those that can't be.
  void override(Body &Into, const Override &O);
  /// Reports a condition that doesn't hold.
  void check(const ast::Require &R, const Scope &Names);

private:
  struct Flat;
  Body &enter(Body &In, const ast::Word &Name);
  bool mergeValue(Body &Into, const ast::Word &Name, const ExprValue &V,
                  SourceRange Use);
  void flatten(const std::vector<ast::Entry> &Entries, Scope &Names, Flat &Out);

  Evaluator &Eval;
  DiagnosticEngine &Diags;
  std::deque<Scope> Scopes;
  const Scope NoNames; // tables use no names
};

} // namespace foretrace
