// SPDX-License-Identifier: Apache-2.0
//
// How far the writing of files is, on a terminal.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <atomic>
#include <chrono>

namespace foretrace {

/// Shows on standard error, if that is a terminal, how far it is once that
/// takes long. Any thread may report.
class Progress {
public:
  /// Of \p Files files, of which \p First is the first. \p IsWanted or not, a
  /// terminal or not.
  Progress(bool IsWanted, llvm::StringRef First, uint64_t Files);
  /// Removes what it has shown.
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

} // namespace foretrace
