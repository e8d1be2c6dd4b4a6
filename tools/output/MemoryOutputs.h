// SPDX-License-Identifier: Apache-2.0
//
// Files that go to the program that asked for them, not to the disk.
#pragma once

#include "backends/OutputSet.h"
#include "llvm/ADT/StringSet.h"
#include <vector>

namespace foretrace {

/// Keeps files in memory, in the order in which they are written.
class MemoryOutputs final : public OutputSet {
public:
  struct File {
    std::string Path; ///< as the format names it, relative to a folder
    std::string Text;
  };

  /// Fails with an OutputLimit when all files together exceed \p MaxBytes.
  explicit MemoryOutputs(uint64_t MaxBytes) : MaxBytes(MaxBytes) {}

  llvm::Error
  addAll(uint64_t Count, llvm::function_ref<std::string(uint64_t)> Path,
         llvm::function_ref<void(uint64_t, OutputStream &)> Write) override;

  uint64_t maxBytes() const { return MaxBytes; }
  std::vector<File> &files() { return Files; }

private:
  const uint64_t MaxBytes;
  uint64_t Written = 0;
  std::vector<File> Files;
  llvm::StringSet<> Paths; ///< of Files
};

} // namespace foretrace
