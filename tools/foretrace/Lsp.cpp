// SPDX-License-Identifier: Apache-2.0
//
// `foretrace lsp`: a language server on standard input and output.
#include "tools/foretrace/Commands.h"
#include "tools/lsp/Server.h"
#include "tools/lsp/Transport.h"

namespace foretrace {

ExitCode runLsp() {
  lsp::Server Serves(llvm::outs());
  while (!Serves.isOver()) {
    const std::optional<std::string> Message = lsp::readMessage(stdin);
    if (!Message)
      break;
    Serves.handle(*Message);
  }
  return Serves.isShutDown() ? ExitSuccess : ExitDiagnosed;
}

} // namespace foretrace
