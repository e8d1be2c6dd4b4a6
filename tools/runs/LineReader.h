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
  static llvm::Expected<LineReader> open(llvm::StringRef Path);
  LineReader(LineReader &&Other)
      : File(std::exchange(Other.File, llvm::sys::fs::kInvalidFile)),
        Buffer(std::move(Other.Buffer)) {}
  ~LineReader();

  /// The next line without its end, valid until the next call; nothing at the
  /// end of the file.
  llvm::Expected<std::optional<llvm::StringRef>> next();
  /// The number of the line last read, from 1.
  int64_t line() const { return Line; }
  /// Whether the last line has no end: the file was cut off.
  bool isCutOff() const { return IsCutOff; }

private:
  explicit LineReader(llvm::sys::fs::file_t File) : File(File) {}
  llvm::Expected<bool> fill();

  llvm::sys::fs::file_t File;
  std::string Buffer;
  size_t At = 0; ///< of Buffer: the next line begins
  int64_t Line = 0;
  bool AtEnd = false;
  bool IsCutOff = false;
};

} // namespace foretrace::runs

#endif
