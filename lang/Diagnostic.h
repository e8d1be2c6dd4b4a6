// SPDX-License-Identifier: Apache-2.0
//
// Messages about the input. Their texts are rows of lang/diagnostics/*.def:
//
//   DIAG(Id, Severity, "slug", "text")
//
// Slugs are stable and never reused. The text is an llvm::formatv pattern:
// lower case, no full stop, code in `backticks`; it says what was seen with
// both numbers, then the rule. Each slug has a test and a paragraph in
// docs/diagnostics.md.
//
// Code reports an id, a range and arguments, and adds notes and fix-its. The
// engine collects them as they are; clients (DiagnosticClient.h) put them into
// words. What is found in files that nobody keeps, such as traces, has a place
// of its own kind and is shown by the same clients.
#pragma once

#include "lang/Source.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace foretrace {

enum class Severity : unsigned char { Error, Warning, Note, Hint };
/// Its word: "error".
llvm::StringRef getName(Severity Level);

namespace diag {
/// A message. The names are in the header beside each table
/// (lang/diagnostics/Frontend.h), so that a new row recompiles only the files
/// that report from its table.
enum Id : unsigned;

enum class DiagnosticTable : unsigned {
  Lang,
  Frontend,
  IR,
  Passes,
  Backends,
  Tools,
  Import,
  Validate,
  Runs
};
constexpr unsigned NumTables = 9;
constexpr unsigned MaxRows = 256; ///< of a table

constexpr Id idOf(DiagnosticTable In, unsigned Row) {
  return Id(static_cast<unsigned>(In) * MaxRows + Row);
}
/// The numbers of the rows of a table, by their ids.
template <DiagnosticTable> struct RowsOf;
} // namespace diag

/// The fixed part of a message: a row of a table.
struct DiagnosticInfo {
  Severity Level;
  llvm::StringRef Slug; ///< stable, never reused: "layers-indivisible"
  llvm::StringRef Text; ///< `{0}` is the first argument
};
const DiagnosticInfo &getDiagnosticInfo(diag::Id Id);
/// All ids, in the order of the tables and their rows.
llvm::ArrayRef<diag::Id> allDiagnostics();
/// The id with this slug, if there is one.
std::optional<diag::Id> findDiagnostic(llvm::StringRef Slug);

/// Returns how many arguments the text of a message has.
size_t numArguments(diag::Id Id);

/// Argument of a diagnostic. It keeps its type, so that JSON and SARIF clients
/// get numbers as numbers. A string is text of the input, a spelling, or any
/// value that only has a printed form.
using DiagnosticArgument =
    std::variant<int64_t, uint64_t, double, bool, std::string>;
using DiagnosticArguments = std::vector<DiagnosticArgument>;

void addInteger(DiagnosticArguments &To, int64_t Value);
void addUnsigned(DiagnosticArguments &To, uint64_t Value);
void addReal(DiagnosticArguments &To, double Value);
void addTruth(DiagnosticArguments &To, bool Value);
void addText(DiagnosticArguments &To, llvm::StringRef Value);

/// Appends several.
inline void addArgument(DiagnosticArguments &To,
                        const DiagnosticArguments &Values) {
  To.insert(To.end(), Values.begin(), Values.end());
}

/// Appends \p Value as what its type is.
template <typename T>
void addArgument(DiagnosticArguments &To, const T &Value) {
  if constexpr (std::is_same_v<T, bool>)
    addTruth(To, Value);
  else if constexpr (std::is_floating_point_v<T>)
    addReal(To, Value);
  else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, char>)
    std::is_signed_v<T> ? addInteger(To, static_cast<int64_t>(Value))
                        : addUnsigned(To, static_cast<uint64_t>(Value));
  else if constexpr (std::is_convertible_v<const T &, llvm::StringRef>)
    addText(To, Value);
  else
    addText(To, llvm::Twine(Value).str());
}

/// A replacement of a source range that is surely right.
struct FixIt {
  SourceRange Range;
  std::string Replacement;
};

/// A place in a file that is read piece by piece and not kept: a trace, a
/// table.
struct ArtifactPlace {
  std::string Path;                 ///< empty: no file
  std::optional<int64_t> Line = {}; ///< from 1; 0: the file has no such line
  std::string Part = {};            ///< `node 7`, `ranks 0-3`; empty: no part
};

/// A value or a list that a finding has for programs besides its message.
struct DiagnosticProperty {
  llvm::StringRef Name; ///< outlives the diagnostic
  std::variant<DiagnosticArgument, std::vector<int64_t>,
               std::vector<std::string>>
      Value;
};

/// One message with the places it speaks of.
struct Diagnostic {
  diag::Id Id;
  Severity Level;
  SourceRange Range;
  DiagnosticArguments Arguments; ///< of the text, in its order
  llvm::SmallVector<FixIt, 1> FixIts;
  std::vector<Diagnostic> Notes;
  /// Set in place of Range where an artifact is at fault, or all of them are.
  std::optional<ArtifactPlace> At = {};
  std::vector<DiagnosticProperty> Properties = {};

  /// The message in words.
  std::string text() const;
};

class DiagnosticEngine;

/// Adds notes and fix-its to a diagnostic that was just reported:
///   Diags.report(R, diag::UnknownKey, Key).note(Base, diag::DeclaredHere);
/// Adds notes and fixes to a diagnostic. Those of a dropped warning are lost.
class DiagnosticBuilder {
public:
  template <typename... Ts>
  DiagnosticBuilder &note(SourceRange Range, diag::Id Id, const Ts &...Args) {
    Diagnostic &Note = addNote(Range, Id);
    (addArgument(Note.Arguments, Args), ...);
    return *this;
  }
  DiagnosticBuilder &fix(SourceRange Range, const llvm::Twine &Replacement);
  /// Says where the value of a key comes from.
  template <typename T>
  DiagnosticBuilder &noteValue(llvm::StringRef Key, const Located<T> &Value) {
    Diagnostic &Note = addValueNote(Value.Range);
    addArgument(Note.Arguments, Key);
    addArgument(Note.Arguments, *Value);
    return *this;
  }

  /// Returns whether it is not shown: it is ignored, or over the limit.
  bool isDropped() const { return Index == OfDropped; }

  /// What was reported.
  const Diagnostic &get() const { return find(); }

private:
  friend class DiagnosticEngine;
  static constexpr size_t OfDropped = ~size_t(0);
  DiagnosticBuilder(DiagnosticEngine &Engine, size_t Index)
      : Engine(Engine), Index(Index) {}
  Diagnostic &find() const;
  Diagnostic &addNote(SourceRange Range, diag::Id Id);
  Diagnostic &addValueNote(SourceRange Range);

  DiagnosticEngine &Engine;
  size_t Index;
};

/// Collects diagnostics of one run in the order they were reported.
///   * report() stores; nothing is put into words or printed here;
///   * an error that is allowed (allow()) is a warning, and a warning that is
///     allowed or ignored (ignore()) is dropped; any other warning that is
///     refused (refuse()) is an error;
///   * of errors, and of warnings, so many are kept, and the others counted;
///   * the tool asks hasErrors() before anything is written.
class DiagnosticEngine {
public:
  template <typename... Ts>
  DiagnosticBuilder report(SourceRange Range, diag::Id Id, const Ts &...Args) {
    DiagnosticBuilder Added = add(Range, Id);
    (addArgument(Added.find().Arguments, Args), ...);
    return Added;
  }

  /// From now on errors with this slug, which must be one, are warnings, and
  /// warnings with it are dropped.
  void allow(llvm::StringRef Slug) { Allowed.set(*findDiagnostic(Slug)); }
  bool isAllowed(diag::Id Id) const { return Allowed.test(Id); }
  bool allowsAny() const { return Allowed.any(); }
  /// Forgets what was allowed, and that it was used: the next `emit` block.
  void clearAllowed() {
    Allowed.reset();
    UsedAllowance = false;
  }
  /// Returns whether an error has been allowed since the last clearAllowed().
  bool usedAllowance() const { return UsedAllowance; }

  /// From now on warnings of this kind are errors.
  void refuse(diag::Id Id) {
    Refused.set(Id);
    Ignored.reset(Id);
  }
  /// From now on warnings are errors, but for those that are ignored.
  void refuseWarnings() { Refused.set(); }
  /// From now on warnings of this kind are dropped.
  void ignore(diag::Id Id) { Ignored.set(Id); }
  /// Returns whether this kind alone was refused or ignored so far.
  bool treatsSpecially(diag::Id Id) const {
    return Ignored.test(Id) || (Refused.test(Id) && !Refused.all());
  }

  /// Takes over what \p Other has and this engine has not.
  void take(const DiagnosticEngine &Other);

  /// Removes reported diagnostics. Other builders of this engine must not be
  /// used any more.
  void withdraw(llvm::ArrayRef<DiagnosticBuilder> Reported);

  /// An engine that treats messages as this one does, and has none.
  DiagnosticEngine cloneEmpty() const {
    DiagnosticEngine Clone;
    Clone.Allowed = Allowed;
    Clone.Refused = Refused;
    Clone.Ignored = Ignored;
    Clone.Limit = Limit;
    return Clone;
  }

  /// Clones the engine for a job that is only tried. Its diagnostics are not
  /// shown, so they need no fixes.
  DiagnosticEngine cloneForTrial() const {
    DiagnosticEngine Clone = cloneEmpty();
    Clone.ForTrial = true;
    return Clone;
  }
  bool isForTrial() const { return ForTrial; }

  /// Keeps at most \p OfEach errors, warnings and notes each; 0 keeps all.
  void setLimit(unsigned OfEach) { Limit = OfEach; }
  /// Returns the number of diagnostics that were not kept.
  unsigned unkept(Severity Level) const;

  bool hasErrors() const { return errorCount() != 0; }
  unsigned errorCount() const { return count(Severity::Error); }
  /// In the order they were reported.
  llvm::ArrayRef<Diagnostic> diagnostics() const { return All; }
  /// Returns the error that was reported first, or null if none was.
  const Diagnostic *firstError() const;

private:
  friend class DiagnosticBuilder;
  DiagnosticBuilder add(SourceRange Range, diag::Id Id);
  unsigned count(Severity Level) const {
    return Counts[static_cast<size_t>(Level)];
  }

  using IdSet = std::bitset<diag::NumTables * diag::MaxRows>;

  std::vector<Diagnostic> All;
  Diagnostic Dropped; ///< the last one dropped; receives its notes
  IdSet Allowed, Refused, Ignored;
  std::array<unsigned, 4> Counts = {}; ///< by severity, kept or not
  unsigned Limit = 100;
  bool UsedAllowance = false;
  bool ForTrial = false;
};

} // namespace foretrace
