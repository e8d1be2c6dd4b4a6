// SPDX-License-Identifier: Apache-2.0
//
// One open file that is being written, and how far the writing of all is, on a
// terminal.
#pragma once

#include "backends/OutputSet.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorOr.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <chrono>

namespace foretrace {

/// Shows on standard error, if that is a terminal, how far it is once that
/// takes long. Any thread may report.
class Progress {
public:
  /// Shows progress, if \p IsWanted and on a terminal, over \p Files files, the
  /// first of which is \p First.
  Progress(bool IsWanted, llvm::StringRef First, uint64_t Files);
  /// Removes the progress from the terminal.
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  void addBytes(uint64_t Count);
  void addFile() { ++FilesDone; }

private:
  using Clock = std::chrono::steady_clock;

  llvm::StringRef First;
  const uint64_t Files;
  std::atomic<uint64_t> FilesDone = 0, Bytes = 0;
  std::atomic<Clock::rep> Due; ///< when it is shown next
  std::atomic<bool> HasShown = false;
};

/// Forwards to a file descriptor in pieces of the size of a buffer.
class FileStream final : public OutputStream {
public:
  /// \p Buffer is the caller's, who may have many files to write.
  FileStream(int FD, llvm::MutableArrayRef<char> Buffer, Progress &Shown);

  /// Fails once all that share \p InAll have written more than \p Most bytes.
  void limit(std::atomic<uint64_t> &InAll, uint64_t Most) {
    Total = &InAll;
    MaxTotal = Most;
  }

  bool isFull() const override {
    return Failed || (Total && *Total > MaxTotal);
  }
  /// Writes out what is buffered; the bytes in all, or the first error. Must be
  /// called.
  llvm::ErrorOr<uint64_t> finish();

private:
  void write_impl(const char *Data, size_t Size) override;
  uint64_t current_pos() const override { return Written; }

  llvm::raw_fd_ostream Inner;
  Progress &Shown;
  uint64_t Written = 0;
  std::atomic<uint64_t> *Total = nullptr;
  uint64_t MaxTotal = UINT64_MAX;
  std::error_code Failed; ///< the first error; nothing is written after it
};

} // namespace foretrace
