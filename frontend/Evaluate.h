// SPDX-License-Identifier: Apache-2.0
//
// Expressions to values: exact integer arithmetic, checked units, names,
// strings with `{names}` in them. Every failure is reported where it stands.
// Private to the frontend.
#pragma once

#include "frontend/Scope.h"
#include "lang/SourceFiles.h"
#include "llvm/ADT/StringMap.h"
#include <functional>

namespace foretrace {

/// The meaning of a bare word that names nothing.
enum class Words : unsigned char {
  Spellings, ///< a value if some key of ir/model/Spec.def takes it, else an
             ///< error
  Any,       ///< a value: the key decides
};

/// Evaluates expressions; empty results were reported.
class Evaluator {
public:
  Evaluator(const SourceFiles &Sources, DiagnosticEngine &Diags)
      : Sources(Sources), Diags(Diags) {}

  std::optional<ExprValue> evaluate(const ast::Expr &E, const Scope &S,
                                    Words W = Words::Spellings);
  /// Evaluates a condition; nothing unless it is true or false.
  std::optional<bool> evaluateCondition(const ast::Expr &E, const Scope &S);
  /// Computes a name once. \p Use is where it was asked for.
  const std::optional<ExprValue> &evaluate(Symbol &S, SourceRange Use);

  /// Makes a key of the job known to `{name}` in strings.
  void setJobKey(llvm::StringRef Key, std::string Text) {
    JobKeys[Key] = std::move(Text);
  }

  /// Returns the value of a path whose first word is no name; nothing if the
  /// path is unknown, too.
  using KeyLookup =
      std::function<std::optional<ExprValue>(llvm::ArrayRef<ast::Word>)>;
  void setKeyLookup(KeyLookup L) { LookUpKey = std::move(L); }

  /// A layer of the model, counted from 0, and the number of all layers.
  struct LayerNumber {
    int64_t Is, Of;
  };
  /// Sets the layer whose keys are evaluated: the value of `layer`.
  void setLayer(std::optional<LayerNumber> L) { Layer = L; }
  std::optional<LayerNumber> layer() const { return Layer; }

  /// Returns the source text at \p Range.
  llvm::StringRef source(SourceRange Range) const {
    return Sources.slice(Range);
  }

private:
  using Result = std::optional<ExprValue>;

  Result visit(const ast::Number &N);
  Result visit(const ast::String &Text);
  Result visit(const ast::Boolean &B);
  Result visit(const ast::Name &N);
  Result visit(const ast::List &L);
  Result visit(const ast::Unary &U);
  Result visit(const ast::Binary &B);
  Result visit(const ast::Conditional &C);
  Result visit(const ast::Call &C);

  static constexpr size_t MaxCopied = size_t(1) << 20;
  bool isFull() const { return Copied > MaxCopied; }
  bool count(const ExprValue &V, SourceRange Use);
  Result lookUp(llvm::ArrayRef<ast::Word> Path, Words W);
  Result layerNumber();
  Result member(const ExprValue &Table, llvm::ArrayRef<ast::Word> Path);
  Result logic(const ast::Binary &B);
  Result truth(const ast::Expr &E);
  std::optional<std::string> interpolate(llvm::StringRef Name,
                                         SourceRange Place);
  SourceRange find(llvm::StringRef Text) const;

  const SourceFiles &Sources;
  DiagnosticEngine &Diags;
  llvm::StringMap<std::string> JobKeys;
  KeyLookup LookUpKey;
  std::optional<LayerNumber> Layer;
  size_t Copied = 0;  ///< characters and elements of names and lists
  unsigned Depth = 0; ///< expressions being evaluated, one within the other
  // The expression being evaluated; saved and restored around each.
  const ast::Expr *Current = nullptr;
  const Scope *Names = nullptr;
  Words Mode = Words::Spellings;
};

} // namespace foretrace
