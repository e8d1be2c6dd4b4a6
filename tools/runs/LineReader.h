// SPDX-License-Identifier: Apache-2.0
//
// Reads a file line by line, in the memory of its longest line.
#ifndef FORETRACE_TOOLS_RUNS_LINEREADER_H
#define FORETRACE_TOOLS_RUNS_LINEREADER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include <optional>
#include <string>
#include <utility>

namespace foretrace::runs {

/// An open file, of which one line after the other is read.
class LineReader {
public:
  /// An error if it is no regular file: a trace is looked at more than once.
  /// More than \p MaxBytes of it are not read; that is an error of the line in
  /// which they end.
  static llvm::Expected<LineReader> open(llvm::StringRef Path,
                                         size_t MaxBytes = SIZE_MAX);
  LineReader(LineReader &&Other)
      : File(std::exchange(Other.File, llvm::sys::fs::kInvalidFile)),
        Left(Other.Left), Buffer(std::move(Other.Buffer)) {}
  ~LineReader();

  /// The next line without its end, valid until the next call; nothing at the
  /// end of the file.
  llvm::Expected<std::optional<llvm::StringRef>> next();
  /// The number of the line last read, from 1.
  int64_t line() const { return Line; }
  /// Whether the last line has no end: the file was cut off.
  bool isCutOff() const { return IsCutOff; }

private:
  LineReader(llvm::sys::fs::file_t File, size_t MaxBytes)
      : File(File), Left(MaxBytes) {}
  llvm::Expected<bool> fill();

  llvm::sys::fs::file_t File;
  size_t Left; ///< bytes that may still be read
  std::string Buffer;
  size_t At = 0; ///< of Buffer: the next line begins
  int64_t Line = 0;
  bool AtEnd = false;
  bool IsCutOff = false;
};

} // namespace foretrace::runs

#endif
