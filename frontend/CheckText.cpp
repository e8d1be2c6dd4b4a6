// SPDX-License-Identifier: Apache-2.0
#include "frontend/CheckText.h"
#include "lang/diagnostics/Frontend.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FormatVariadic.h"

namespace foretrace {

/// A parse takes some hundred bytes of memory for each byte of text.
static constexpr size_t MaxFileSize = 1 << 20;

bool checkText(SourceText Source, DiagnosticEngine &Diags) {
  const llvm::StringRef Text = Source.str();
  if (Text.size() > MaxFileSize) {
    Diags.report(Source.range(0, 1), diag::FileTooLarge, Text.size(),
                 MaxFileSize);
    return false;
  }
  if (size_t Nul = Text.find('\0'); Nul != llvm::StringRef::npos) {
    Diags.report(Source.range(Nul, Nul + 1), diag::NulByte, Nul);
    return false;
  }
  const llvm::UTF8 *At = Text.bytes_begin();
  if (!llvm::isLegalUTF8String(&At, Text.bytes_end())) {
    size_t Offset = At - Text.bytes_begin();
    Diags.report(Source.range(Offset, Offset + 1), diag::InvalidUtf8,
                 llvm::formatv("{0:x2}", unsigned(*At)).str(), Offset);
    return false;
  }
  return true;
}

} // namespace foretrace
