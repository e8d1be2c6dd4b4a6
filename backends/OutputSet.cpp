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
