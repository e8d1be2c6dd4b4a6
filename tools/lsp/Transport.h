// SPDX-License-Identifier: Apache-2.0
//
// Messages of the language server protocol over two streams: a header with
// `Content-Length`, and a JSON object.
#pragma once

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>
#include <optional>

namespace foretrace::lsp {

/// Reads the text of the next message; nothing at the end of \p In, or after a
/// header without a length or with one above 64 MiB.
std::optional<std::string> readMessage(std::FILE *In);
void writeMessage(const llvm::json::Value &Message, llvm::raw_ostream &Out);

} // namespace foretrace::lsp
