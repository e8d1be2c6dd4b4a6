// SPDX-License-Identifier: Apache-2.0
//
// Any lines as messages to the language server, which has a text open. It
// answers, or says why not.
#include "tools/lsp/Server.h"

using namespace foretrace;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  // Making one takes longer than most messages.
  static lsp::Server Serves(llvm::nulls());
  llvm::StringRef Left(reinterpret_cast<const char *>(Data), Size);
  while (!Left.empty()) {
    const auto [Line, Rest] = Left.split('\n');
    Serves.handle(Line);
    Left = Rest;
  }
  Serves.checkChanged();
  return 0;
}
