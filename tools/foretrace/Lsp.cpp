// SPDX-License-Identifier: Apache-2.0
//
// `foretrace lsp`: a language server on standard input and output.
#include "tools/foretrace/Commands.h"
#include "tools/lsp/Inbox.h"
#include "tools/lsp/Server.h"

namespace foretrace {

ExitCode runLsp() {
  lsp::Server Serves(llvm::outs());
  lsp::Inbox Messages(stdin);
  while (!Serves.isOver()) {
    const std::optional<std::string> Message = Messages.next();
    if (!Message)
      break;
    if (Messages.isCancelled(*Message))
      Serves.cancel(*Message);
    else
      Serves.handle(*Message);
    if (Messages.isEmpty())
      Serves.checkChanged();
  }
  return Serves.isShutDown() ? ExitSuccess : ExitDiagnosed;
}

} // namespace foretrace
