// SPDX-License-Identifier: Apache-2.0
//
// Where things stand in the input. Positions are values: a file by its number
// and bytes in it, so what holds them is stored, compared and hashed like any
// other data. SourceFiles.h has the texts that they speak of.
#pragma once

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"
#include <cassert>
#include <cstdint>

namespace foretrace {

/// A file by the number that SourceFiles gave it.
enum class FileId : uint32_t { None = 0 };

/// A byte of a file, or of none.
struct SourceLocation {
  FileId File = FileId::None;
  uint32_t Offset = 0;

  bool isValid() const { return File != FileId::None; }
  friend bool operator==(SourceLocation A, SourceLocation B) {
    return A.File == B.File && A.Offset == B.Offset;
  }
  friend bool operator!=(SourceLocation A, SourceLocation B) {
    return !(A == B);
  }
  /// In order of files, and then of bytes.
  friend bool operator<(SourceLocation A, SourceLocation B) {
    return A.File != B.File ? A.File < B.File : A.Offset < B.Offset;
  }
  friend llvm::hash_code hash_value(SourceLocation L) {
    return llvm::hash_combine(uint32_t(L.File), L.Offset);
  }
};

/// The bytes from Begin up to End of a file. An invalid range means "not
/// written anywhere".
struct SourceRange {
  FileId File = FileId::None;
  uint32_t Begin = 0;
  uint32_t End = 0;

  bool isValid() const { return File != FileId::None; }
  SourceLocation start() const { return {File, Begin}; }
  /// Returns the empty range where this range begins.
  SourceRange atStart() const { return {File, Begin, Begin}; }
  /// Returns the range from here to the end of \p Last, if it is in this file.
  SourceRange to(SourceRange Last) const {
    return Last.File == File ? SourceRange{File, Begin, Last.End} : *this;
  }
  bool contains(SourceRange Inner) const {
    return Inner.File == File && Inner.Begin >= Begin && Inner.End <= End;
  }

  friend bool operator==(SourceRange A, SourceRange B) {
    return A.start() == B.start() && A.End == B.End;
  }
  friend bool operator!=(SourceRange A, SourceRange B) { return !(A == B); }
  friend llvm::hash_code hash_value(SourceRange R) {
    return llvm::hash_combine(uint32_t(R.File), R.Begin, R.End);
  }
};

/// A text in a file, the whole of it or a part.
class SourceText {
public:
  SourceText(FileId File, llvm::StringRef Text, uint32_t Begin = 0)
      : Text(Text), File(File), Begin(Begin) {}

  llvm::StringRef str() const { return Text; }
  /// Returns the range of bytes \p From to \p To, counted from its own start.
  SourceRange range(size_t From, size_t To) const {
    return {File, static_cast<uint32_t>(Begin + From),
            static_cast<uint32_t>(Begin + To)};
  }
  SourceRange range() const { return range(0, Text.size()); }
  /// Returns the range of \p Part, which points into this text.
  SourceRange rangeOf(llvm::StringRef Part) const {
    const auto From = static_cast<size_t>(Part.data() - Text.data());
    return range(From, From + Part.size());
  }
  SourceText part(llvm::StringRef Part) const {
    return {File, Part, rangeOf(Part).Begin};
  }
  /// Returns the text in \p R, which must be within this text.
  llvm::StringRef slice(SourceRange R) const {
    return Text.slice(R.Begin - Begin, R.End - Begin);
  }

private:
  llvm::StringRef Text;
  FileId File;
  uint32_t Begin;
};

/// Name of the file of all `-D`; each has a line in it.
constexpr char CommandLineName[] = "<command line>";

#ifndef NDEBUG
/// In builds with assertions, called for each read of a value, if set, with
/// whether it is only passed on.
inline thread_local void (*OnRead)(const void *Value, bool IsCarried) = nullptr;
inline void noteRead(const void *Value, bool IsCarried) {
  if (OnRead)
    OnRead(Value, IsCarried);
}
#else
inline void noteRead(const void *, bool) {}
#endif

/// A value and the place it was written. The range of a default or a derived
/// value is the place it was derived from, or invalid.
template <typename T> struct Located {
  /// How the value came to be; a derived value that is also stated is checked.
  enum class Status : unsigned char { Absent, Default, Derived, Stated };

  T Value{};
  SourceRange Range;
  Status From = Status::Absent;

  bool isPresent() const { return From != Status::Absent; }
  bool isStated() const { return From == Status::Stated; }
  /// Returns whether it is present and equals \p Other.
  bool is(const T &Other) const { return isPresent() && **this == Other; }
  /// The value, which must be present.
  const T &operator*() const {
    assert(isPresent() && "reads a value that nobody set");
    noteRead(this, /*IsCarried=*/false);
    return Value;
  }
  /// Returns the value for code that passes it on and decides nothing by it.
  const T &carried() const {
    assert(isPresent() && "carries a value that nobody set");
    noteRead(this, /*IsCarried=*/true);
    return Value;
  }
  const T *operator->() const { return &**this; }

  void state(T V, SourceRange R) { *this = {std::move(V), R, Status::Stated}; }
  void derive(T V, SourceRange R = {}) {
    *this = {std::move(V), R, Status::Derived};
  }
  void setDefault(T V) { *this = {std::move(V), {}, Status::Default}; }
};

} // namespace foretrace
