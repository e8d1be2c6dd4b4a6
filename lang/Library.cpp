// SPDX-License-Identifier: Apache-2.0
#include "lang/Library.h"

using namespace foretrace;

llvm::ArrayRef<LibraryFile> foretrace::libraryFiles() {
  static constexpr LibraryFile Files[] = {
#include "lang/Library.inc"
  };
  return Files;
}
