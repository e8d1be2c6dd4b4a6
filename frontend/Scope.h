// SPDX-License-Identifier: Apache-2.0
//
// Which names an expression can use: params, lets and TOML aliases of its file
// and of the files it imports, lets of the section it stands in, and blocks of
// its model.
// Private to the frontend.
#pragma once

#include "frontend/Value.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include <deque>
#include <optional>

namespace foretrace {

class Scope;

/// A name with a value, which is computed when first asked for.
struct Symbol {
  enum class State : unsigned char { Unknown, Computing, Known };

  ast::Word Name;
  const ast::Param *Param = nullptr;     ///< set for a param
  const ast::Expr *Definition = nullptr; ///< let, default or override
  const Scope *Home = nullptr;           ///< where Definition is evaluated
  State Is = State::Unknown;
  std::optional<ExprValue> Result; ///< empty when Known: an error was reported
};

/// Names, with a parent to look further and imported scopes beside it.
class Scope {
public:
  explicit Scope(const Scope *Parent = nullptr) : Parent(Parent) {}
  Scope(const Scope &) = delete;
  Scope &operator=(const Scope &) = delete;

  /// Adds a name; reports a name that this very scope has already and keeps
  /// the first.
  Symbol *add(Symbol S, DiagnosticEngine &Diags);
  /// Adds a name whose value is known.
  void give(const ast::Word &Name, ExprValue V);
  /// Names of \p S, and of what it imports, can be seen from here.
  void import(const Scope &S);

  /// Sets the note, with the name as its argument, for unknown names without a
  /// similar one.
  void explainUnknown(diag::Id Note) { OfUnknown = Note; }
  std::optional<diag::Id> ofUnknown() const { return OfUnknown; }

  /// The nearest symbol of that name, or null. Own names hide the parent's and
  /// the imported ones. The symbol is the evaluator's to fill in.
  Symbol *find(llvm::StringRef Name) const;
  /// Every name that can be seen from here, for suggestions.
  std::vector<llvm::StringRef> names() const;

  /// Names of this scope alone, in order.
  std::deque<Symbol> &symbols() { return Symbols; }

private:
  Symbol *findOwn(llvm::StringRef Name) const { return ByName.lookup(Name); }
  void collect(std::vector<llvm::StringRef> &Names) const;

  const Scope *Parent;
  /// Near ones first; indirect imports included.
  llvm::SetVector<const Scope *> Imports;
  mutable std::deque<Symbol> Symbols; // values are computed on demand
  llvm::StringMap<Symbol *> ByName;
  std::optional<diag::Id> OfUnknown;
};

} // namespace foretrace
