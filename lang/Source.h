// SPDX-License-Identifier: Apache-2.0
//
// Where things stand in the input. Foretrace uses LLVM's SourceMgr for buffers
// and line numbers; these are the few names the rest of the code needs.
#ifndef FORETRACE_LANG_SOURCE_H
#define FORETRACE_LANG_SOURCE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/SMLoc.h"

namespace foretrace {

/// A half-open byte range in a buffer owned by the llvm::SourceMgr of the run.
/// An invalid range means "not written anywhere".
using SourceRange = llvm::SMRange;

/// Where \p Text is, which lies in a buffer.
inline SourceRange rangeOf(llvm::StringRef Text) {
  return {llvm::SMLoc::getFromPointer(Text.begin()),
          llvm::SMLoc::getFromPointer(Text.end())};
}

/// What the buffer of all `-D` is called; each has a line in it.
constexpr char CommandLineName[] = "<command line>";

#ifndef NDEBUG
/// In builds with assertions, who wants to know which values are read, if
/// anybody.
inline thread_local void (*OnRead)(const void *Value) = nullptr;
inline void noteRead(const void *Value) {
  if (OnRead)
    OnRead(Value);
}
#else
inline void noteRead(const void *) {}
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
  const T &operator*() const {
    noteRead(this);
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

#endif
