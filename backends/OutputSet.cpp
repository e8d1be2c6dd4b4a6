// SPDX-License-Identifier: Apache-2.0
#include "backends/OutputSet.h"

using namespace foretrace;

OutputSet::~OutputSet() = default;

llvm::Error OutputSet::add(llvm::StringRef Path,
                           llvm::function_ref<void(OutputStream &)> Write) {
  return addAll(
      1, [&](uint64_t) { return Path.str(); },
      [&](uint64_t, OutputStream &OS) { Write(OS); });
}

llvm::Error OutputSet::addParts(
    llvm::StringRef Path, uint64_t Count,
    llvm::function_ref<void(uint64_t, OutputStream &)> WritePart) {
  return add(Path, [&](OutputStream &OS) {
    for (uint64_t I = 0; I != Count && !OS.isFull(); ++I)
      WritePart(I, OS);
  });
}
