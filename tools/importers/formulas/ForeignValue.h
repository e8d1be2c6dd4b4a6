// SPDX-License-Identifier: Apache-2.0
//
// Values of other tools' files, each with its place, whatever the format.
#pragma once

#include "lang/AST.h"
#include "lang/Diagnostic.h"
#include <memory>
#include <optional>
#include <vector>

namespace foretrace::importers {

/// A value of a foreign file, or the result of a formula on such values.
struct ForeignValue {
  enum class Kind : unsigned char {
    Missing, ///< the file does not have it
    Null,
    Boolean,
    Integer,
    Real,
    Text,
    List,
    Map,
  };
  struct Member;

  Kind Is = Kind::Missing;
  bool IsBare = false;    ///< a text without quotes
  bool IsFormula = false; ///< a text that is a formula of the job
  bool Truth = false;
  int64_t Integer = 0;
  double Real = 0;
  std::string Text;
  std::shared_ptr<const std::vector<ForeignValue>> Elements;
  std::shared_ptr<const std::vector<Member>> Members;
  /// Where it is written; of a computed value, the place of its first operand.
  SourceRange Range;

  static ForeignValue null(SourceRange Range = {});
  static ForeignValue of(bool Truth, SourceRange Range = {});
  static ForeignValue of(int64_t Integer, SourceRange Range = {});
  /// Returns an integer if \p Real is a small one: JSON has one type for both.
  static ForeignValue of(double Real, SourceRange Range = {});
  static ForeignValue of(std::string Text, SourceRange Range = {});
  static ForeignValue of(std::vector<ForeignValue> Elements,
                         SourceRange Range = {});
  static ForeignValue of(std::vector<Member> Members, SourceRange Range = {});
  static ForeignValue of(const char *) = delete; // would be a truth

  bool isMissing() const { return Is == Kind::Missing; }
  bool isNumber() const { return Is == Kind::Integer || Is == Kind::Real; }
  /// The number, which this must be.
  double number() const { return Is == Kind::Real ? Real : double(Integer); }
  /// Returns whether the value means off: false, 0, null, empty or `none`.
  bool isOff() const;
  /// The member of a map; null if this is none or has none of this name.
  const ForeignValue *find(llvm::StringRef Key) const;
  /// The kind in words, for messages: "a text".
  llvm::StringRef kindName() const;
  /// Returns the value in the syntax of `.fore`, with texts quoted if needed.
  std::string print() const;
};

struct ForeignValue::Member {
  ast::Word Key;
  ForeignValue Is;
};

/// Returns whether two values are the same; numbers by what they are, not by
/// kind.
bool areEqual(const ForeignValue &L, const ForeignValue &R);

/// Reads a scalar of JSON or YAML: a number, `true`, `null` and the like; any
/// other text is one.
ForeignValue readScalar(llvm::StringRef Written, SourceRange Range);

/// Reads an object of JSON, with `Infinity` and `NaN`, or of YAML. Reports an
/// error and returns nothing if it is neither. If a key is repeated, that is an
/// error, or its last value counts.
enum class Repeated : unsigned char { IsError, LastCounts };
std::optional<ForeignValue> readYaml(SourceText Text, DiagnosticEngine &Diags,
                                     Repeated Keys = Repeated::IsError);
/// Reads TOML.
std::optional<ForeignValue> readToml(SourceText Text, DiagnosticEngine &Diags);

} // namespace foretrace::importers
