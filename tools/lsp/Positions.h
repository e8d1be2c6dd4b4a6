// SPDX-License-Identifier: Apache-2.0
//
// Positions of the language server protocol, which count lines and UTF-16 code
// units from 0, and bytes of a text.
#pragma once

#include "lang/Source.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace foretrace::lsp {

/// Returns the byte of \p Text at a position: the end of a line or of the text
/// if it is beyond that.
size_t byteAt(llvm::StringRef Text, const llvm::json::Object &Position);
/// Returns the UTF-16 units of a part of a line.
int64_t unitsOf(llvm::StringRef Text);
/// Returns the byte that a request's parameters name.
size_t byteOf(llvm::StringRef Text, const llvm::json::Object &Params);
/// Returns the position of a byte.
llvm::json::Object positionOf(llvm::StringRef Text, size_t Byte);
llvm::json::Object rangeOf(llvm::StringRef Text, size_t Begin, size_t End);

/// The path of a `file:` URI; empty for another.
std::string pathOf(llvm::StringRef Uri);
std::string uriOf(llvm::StringRef Path);

} // namespace foretrace::lsp
