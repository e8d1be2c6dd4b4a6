// SPDX-License-Identifier: Apache-2.0
//
// The value of an expression: an exact integer or a decimal with a dimension, a
// word, a string, a list, a layer pattern or a table.
// Private to the frontend.
#pragma once

#include "ir/model/Expr.h"
#include "ir/model/Spec.h"
#include "lang/AST.h"
#include "lang/Diagnostic.h"
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace foretrace {

enum class Dimension : unsigned char {
#define DIMENSION(ENUMERATOR, TEXT) ENUMERATOR,
#include "frontend/Units.def"
};
/// Returns the name of a dimension in messages: "a count", "bytes".
llvm::StringRef getName(Dimension D);

struct ExprValue;

/// A bare word that names no param or let: `bf16`.
struct WordValue {
  std::string Text;
};
struct ListValue {
  /// No layout has more; longer lists would only fill memory. Those of lists
  /// within count, and characters.
  static constexpr size_t MaxElements = size_t(1) << 20;
  std::vector<ExprValue> Elements;
};
/// Layers in order, folded.
using PatternValue = std::vector<ir::LayerRun>;
/// A table of a TOML file.
struct TableValue {
  const ast::Section *Section;
};

/// A word that differs from point to point of a sweep.
struct WordAxisValue {
  llvm::StringRef Key;
  ir::Expr Position; ///< among these
  llvm::ArrayRef<std::string> Words;
};
/// A condition on the points of a sweep: 1 where it holds, else 0.
struct ConditionValue {
  ir::Expr Holds;
};

/// A value and the range of the expression it came from. Numbers are in the
/// base unit of their dimension (see Units.def).
struct ExprValue {
  std::variant<int64_t, double, bool, std::string, WordValue, ListValue,
               PatternValue, TableValue, ir::Expr, WordAxisValue,
               ConditionValue>
      Data; ///< an expression has a number at each point of a sweep
  Dimension Dim = Dimension::Count;
  SourceRange Range;
  /// Unit of a count: `G`, `Ki`, or empty. Arithmetic drops it.
  llvm::StringRef Prefix = {};
  /// The first value interpolated into a string that a path should not have:
  /// one with a `/`, or `..`.
  SourceRange PathFrom = {};

  template <typename T> const T *getIf() const { return std::get_if<T>(&Data); }
  bool isNumber() const { return getIf<int64_t>() || getIf<double>(); }
  /// Returns whether it differs from point to point of a sweep.
  bool isOfPoint() const {
    return getIf<ir::Expr>() || getIf<WordAxisValue>() ||
           getIf<ConditionValue>();
  }
  /// A number as a double.
  double asReal() const;
  /// The characters of a word or string; null for anything else.
  const std::string *asText() const;
};

/// Returns the kind of \p V in the words of a message: "bytes", "a string".
std::string describe(const ExprValue &V);
/// Returns \p V as `{name}` prints it; nothing for lists and the like.
std::optional<std::string> format(const ExprValue &V);

/// Returns a number without a unit that can only be a share as one: 0, and
/// decimals between 0 and 1. Returns any other value as it is.
ExprValue asShare(const ExprValue &V);
/// Returns whether one is a share and asShare() would change the other.
bool needsShare(const ExprValue &A, const ExprValue &B);
/// Returns how \p Plain, a number without a unit, is written as a quantity of
/// \p D: "`5 s` or `5 ns`". Large numbers are taken to be in base units. Empty
/// if \p V is not such a number, or if no metric has that dimension.
std::string withUnit(const ExprValue &Plain, Dimension D);
/// Returns the quantity that is 1 in the base unit of \p D: "1 ns"; empty if no
/// metric has that dimension.
llvm::StringRef baseQuantity(Dimension D);

/// Characters and elements that a copy of \p V has.
size_t weigh(const ExprValue &V);

/// Adds to \p Report the metric that others call by the word \p V, if any.
void noteMetric(const ExprValue &V, DiagnosticBuilder &Report);
/// Units of \p D with the same prefix as the unit \p Prefix of a count: of
/// rates, `Gbit/s` and `GB/s` for `G`.
std::vector<llvm::StringRef> unitsLike(llvm::StringRef Prefix, Dimension D);
/// Applies the unit of a number written at \p Range. Reports unknown units and
/// integers beyond 2^63.
std::optional<ExprValue> evaluateNumber(const ast::Number &N, SourceRange Range,
                                        DiagnosticEngine &Diags);

} // namespace foretrace
