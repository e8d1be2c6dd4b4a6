// SPDX-License-Identifier: Apache-2.0
#include "frontend/CheckText.h"
#include "llvm/Support/ConvertUTF.h"

namespace foretrace {

/// A parse takes some hundred bytes of memory for each byte of text.
static constexpr size_t MaxFileSize = 16 << 20;

static SourceRange byteRange(const char *At) {
  return {llvm::SMLoc::getFromPointer(At), llvm::SMLoc::getFromPointer(At + 1)};
}

bool checkText(llvm::StringRef Text, DiagnosticEngine &Diags) {
  if (Text.size() > MaxFileSize) {
    Diags.report(byteRange(Text.data()), diag::FileTooLarge, Text.size(),
                 MaxFileSize);
    return false;
  }
  if (size_t Nul = Text.find('\0'); Nul != llvm::StringRef::npos) {
    Diags.report(byteRange(Text.data() + Nul), diag::NulByte, Nul);
    return false;
  }
  const llvm::UTF8 *At = Text.bytes_begin();
  if (!llvm::isLegalUTF8String(&At, Text.bytes_end())) {
    size_t Offset = At - Text.bytes_begin();
    Diags.report(byteRange(Text.data() + Offset), diag::InvalidUtf8,
                 llvm::formatv("{0:x2}", unsigned(*At)).str(), Offset);
    return false;
  }
  return true;
}

} // namespace foretrace
