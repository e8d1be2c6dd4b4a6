// SPDX-License-Identifier: Apache-2.0
//
// Kinds of values that options of `emit` blocks have; a kind is what an
// EmitOption takes its functions from.
#pragma once

#include "ir/model/Attribute.h"
#include "lang/Diagnostic.h"
#include "lang/Source.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace foretrace::option {

/// The defaults of a kind: its values are not paths and have no words, and an
/// initial value is not shown.
struct KindBase {
  static constexpr bool IsPath = false;
  static llvm::ArrayRef<llvm::StringRef> words() { return {}; }
  template <typename T> static std::string show(const T &) { return ""; }
};

struct FileName : KindBase {
  static constexpr bool IsPath = true;
  static std::string expected() { return "a file name in quotes"; }
  static bool read(const ir::Attribute &A, std::string &Into,
                   DiagnosticEngine &);
};

struct FolderName : KindBase {
  static constexpr bool IsPath = true;
  static std::string expected() { return "a folder in quotes"; }
  static bool read(const ir::Attribute &A, std::string &Into,
                   DiagnosticEngine &);
};

/// Prefix of the names of several files.
struct FilePrefix : KindBase {
  static constexpr bool IsPath = true;
  static std::string expected() {
    return "the beginning of a file's name, in quotes";
  }
  static bool read(const ir::Attribute &A, std::string &Into,
                   DiagnosticEngine &);
};

struct Flag : KindBase {
  static std::string expected() { return "true or false"; }
  static llvm::ArrayRef<llvm::StringRef> words();
  static std::string show(bool Is) { return Is ? "true" : "false"; }
  static std::string show(std::optional<bool>) { return ""; }
  static bool read(const ir::Attribute &A, bool &Into, DiagnosticEngine &);
  static bool read(const ir::Attribute &A, std::optional<bool> &Into,
                   DiagnosticEngine &Diags) {
    return read(A, Into.emplace(), Diags);
  }
};

/// A number from \p Least to \p Most. A kind of its own adds a unit.
template <int64_t Least, int64_t Most = INT64_MAX> struct Number : KindBase {
  static std::string expected() {
    if (Most == INT64_MAX)
      return "a number of at least " + std::to_string(Least);
    return "a number from " + std::to_string(Least) + " to " +
           std::to_string(Most);
  }
  static std::string show(int64_t N) { return std::to_string(N); }
  static bool read(const ir::Attribute &A, int64_t &Into, DiagnosticEngine &) {
    if (A.K != ir::Attribute::Kind::Int || A.Integer < Least ||
        A.Integer > Most)
      return false;
    Into = A.Integer;
    return true;
  }
};

/// Reads a number of at least 1 that \p Measures something, `a time`. It may
/// have no unit from \p Plausible on: below, it was meant in another one.
bool readMeasure(const ir::Attribute &A, llvm::StringRef Measures,
                 int64_t Plausible, std::optional<int64_t> &Into);

/// A value that may be unknown.
struct Measured : KindBase {
  static std::string show(const std::optional<int64_t> &) { return ""; }
};

/// A time, in nanoseconds.
struct TimeSpan : Measured {
  static std::string expected() { return "a time, such as 13.75 s"; }
  static bool read(const ir::Attribute &A, std::optional<int64_t> &Into,
                   DiagnosticEngine &) {
    return readMeasure(A, "a time", 100, Into);
  }
};

/// A time, or the word `estimate`, which is EstimatedTime.
struct SpanOrEstimate : Measured {
  static std::string expected() {
    return "a time, such as 13.75 s, or estimate";
  }
  static bool read(const ir::Attribute &A, std::optional<int64_t> &Into,
                   DiagnosticEngine &Diags) {
    if (A.K != ir::Attribute::Kind::Name || A.Text != "estimate")
      return TimeSpan::read(A, Into, Diags);
    Into = EstimatedTime;
    return true;
  }
  static constexpr int64_t EstimatedTime = 0;
};

/// A size, in bytes.
struct ByteCount : Measured {
  static std::string expected() { return "a size, such as 80 GB"; }
  static bool read(const ir::Attribute &A, std::optional<int64_t> &Into,
                   DiagnosticEngine &) {
    return readMeasure(A, "bytes", 1'000'000, Into);
  }
};

/// "one of a, b"
std::string oneOf(llvm::ArrayRef<llvm::StringRef> Words);
/// Returns the index of \p A in \p Words.
std::optional<size_t> findWord(const ir::Attribute &A,
                               llvm::ArrayRef<llvm::StringRef> Words);
/// Returns the index of \p A, which may be in quotes, in \p Words.
std::optional<size_t> findText(const ir::Attribute &A,
                               llvm::ArrayRef<llvm::StringRef> Words);

/// One of \p Words, an array in the order of the enumerators.
template <const auto &Words, auto Find = findWord> struct WordOf : KindBase {
  static std::string expected() { return oneOf(words()); }
  static llvm::ArrayRef<llvm::StringRef> words() { return Words; }
  template <typename T> static std::string show(const T &E) {
    if constexpr (std::is_enum_v<T>)
      return Words[static_cast<size_t>(E)].str();
    else
      return "";
  }
  template <typename EnumT>
  static bool read(const ir::Attribute &A, EnumT &Into, DiagnosticEngine &) {
    const std::optional<size_t> I = Find(A, words());
    if (I)
      Into = static_cast<EnumT>(*I);
    return I.has_value();
  }
  template <typename EnumT>
  static bool read(const ir::Attribute &A, std::optional<EnumT> &Into,
                   DiagnosticEngine &Diags) {
    return read(A, Into.emplace(), Diags);
  }
};

/// Reads a list of slugs of diagnostics, each of \p Allowable, and allows them
/// in \p Diags.
bool readAllow(const ir::Attribute &A, std::vector<std::string> &Into,
               llvm::ArrayRef<llvm::StringRef> Allowable,
               DiagnosticEngine &Diags);
template <const auto &Allowable> struct Slugs : KindBase {
  static std::string expected() { return "a list of diagnostics in quotes"; }
  static bool read(const ir::Attribute &A, std::vector<std::string> &Into,
                   DiagnosticEngine &Diags) {
    return readAllow(A, Into, Allowable, Diags);
  }
};

} // namespace foretrace::option
