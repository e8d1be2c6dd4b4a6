// SPDX-License-Identifier: Apache-2.0
#include "backends/OutputSet.h"

using namespace foretrace;

OutputSet::~OutputSet() = default;

llvm::Error
OutputSet::add(llvm::StringRef Path,
               llvm::function_ref<void(llvm::raw_ostream &)> Write) {
  return addAll(
      1, [&](uint64_t) { return Path.str(); },
      [&](uint64_t, llvm::raw_ostream &OS) { Write(OS); });
}

llvm::Error OutputSet::addParts(
    llvm::StringRef Path, uint64_t Count,
    llvm::function_ref<void(uint64_t, llvm::raw_ostream &)> WritePart) {
  return add(Path, [&](llvm::raw_ostream &OS) {
    for (uint64_t I = 0; I != Count; ++I)
      WritePart(I, OS);
  });
}
