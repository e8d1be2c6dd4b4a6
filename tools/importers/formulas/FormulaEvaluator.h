// SPDX-License-Identifier: Apache-2.0
//
// Evaluates the formulas of a mapping, whose names are keys of an input.
#pragma once

#include "frontend/Mapping.h"
#include "tools/importers/formulas/ForeignValue.h"

namespace foretrace::importers {

/// A key, and its value as it is written.
struct WrittenKey {
  std::string Key, Text;
  friend bool operator==(const WrittenKey &A, const WrittenKey &B) {
    return A.Key == B.Key && A.Text == B.Text;
  }
};

/// Calls the function \p Name of formulas with arguments that are all there.
/// Its result is missing after an error.
ForeignValue callFunction(llvm::StringRef Name, llvm::ArrayRef<ForeignValue> Of,
                          DiagnosticEngine &Diags);

/// Evaluates formulas. Numbers are those of Python, but integers are checked.
class FormulaEvaluator {
public:
  /// Keys are members of \p Input, then of the \p Outer map, if there is one.
  FormulaEvaluator(const Mapping &Map, const ForeignValue &Input,
                   const ForeignValue *Outer, DiagnosticEngine &Diags)
      : Map(Map), Input(Input), Outer(Outer), Diags(Diags) {}

  /// The value, which is missing after an error, or where the page says `none`.
  ForeignValue evaluate(const ast::Expr &E);
  /// Returns whether a condition holds; nothing after an error.
  std::optional<bool> holds(const ast::Expr &E);
  /// The branch of an `if` that holds; none after an error.
  llvm::ArrayRef<ast::Entry> choose(const ast::If &I);
  /// A text with the values of the `{names}` in it.
  std::string interpolate(llvm::StringRef Text);

  /// From now on a key that is absent is missing, which is no error.
  void allowMissing() { AllowsMissing = true; }
  void setLayer(std::optional<int64_t> Number) { Layer = Number; }
  /// If \p Ask, an absent key without a default is asked for, not an error.
  /// `ask(key)` and values that depend on shell variables always are.
  void askForMissing(bool Ask) { AsksForMissing = Ask; }
  /// Returns how often a key had to be asked for.
  unsigned numAsked() const { return NumAsked; }
  /// Returns the keys that the input lacks, with the numbers and booleans that
  /// are their defaults.
  llvm::ArrayRef<WrittenKey> defaults() const { return Defaults; }
  /// The first value of the input that the last formula read.
  SourceRange origin() const { return Origin; }

private:
  ForeignValue visit(const ast::Expr &E);
  ForeignValue name(const ast::Name &N, bool IsOptional);
  ForeignValue let(llvm::StringRef Name, const ast::Expr &Value);
  ForeignValue find(llvm::StringRef Key);
  /// Returns whether it names a key of the input, not a `let` of the page.
  bool isKeyOfInput(const ast::Name &N) const;
  ForeignValue unary(const ast::Unary &U);
  ForeignValue binary(const ast::Binary &B, SourceRange Use);
  ForeignValue logic(const ast::Binary &B);
  ForeignValue arithmetic(ast::BinaryOp Op, const ForeignValue &L,
                          const ForeignValue &R, SourceRange Use);
  ForeignValue call(const ast::Call &C);
  std::optional<ForeignValue> form(const ast::Call &C);
  ForeignValue first(const ast::Call &C);
  ForeignValue each(const ast::Call &C);
  ForeignValue optional(const ast::Expr &E);
  bool needs(const ForeignValue &V, ForeignValue::Kind Kind,
             llvm::StringRef Expected);
  bool needsNumber(const ForeignValue &V);
  ForeignValue overflow(SourceRange Range, SourceRange Use);

  const Mapping &Map;
  const ForeignValue &Input;
  const ForeignValue *Outer;
  DiagnosticEngine &Diags;
  std::optional<int64_t> Layer;
  bool ReadsLayer = false; ///< what is evaluated now
  /// Values of each `let` that does not depend on the layer. Formulas read the
  /// same ones for every layer.
  struct Known {
    ForeignValue Value;
    SourceRange Origin; ///< the first value of the input that it read
  };
  llvm::StringMap<Known> Lets;
  bool AsksForMissing = false;
  unsigned NumAsked = 0;
  SourceRange Origin;
  llvm::StringSet<> Reported; ///< keys that are missing
  llvm::StringSet<> Taken;    ///< those of Defaults
  std::vector<WrittenKey> Defaults;
  bool AllowsMissing = false;
  unsigned Depth = 0;
};

} // namespace foretrace::importers
