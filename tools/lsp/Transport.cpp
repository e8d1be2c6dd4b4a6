// SPDX-License-Identifier: Apache-2.0
#include "tools/lsp/Transport.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::lsp {

/// Reads a line without its end; nothing at the end of \p In.
static std::optional<std::string> readLine(std::FILE *In) {
  constexpr size_t MaxLength = 4096;
  std::string Line;
  for (int C = std::getc(In); C != EOF; C = std::getc(In)) {
    if (C == '\n') {
      if (!Line.empty() && Line.back() == '\r')
        Line.pop_back();
      return Line;
    }
    if (Line.size() == MaxLength)
      return std::nullopt;
    Line += static_cast<char>(C);
  }
  return std::nullopt;
}

std::optional<std::string> readMessage(std::FILE *In) {
  constexpr size_t MaxSize = size_t(64) << 20;
  size_t Size = 0;
  while (std::optional<std::string> Line = readLine(In)) {
    if (Line->empty()) {
      if (Size == 0 || Size > MaxSize)
        return std::nullopt;
      std::string Text(Size, '\0');
      if (std::fread(Text.data(), 1, Size, In) != Size)
        return std::nullopt;
      return Text;
    }
    StringRef Header = *Line;
    if (Header.consume_front_insensitive("content-length:"))
      if (!to_integer(Header.trim(), Size, 10))
        return std::nullopt;
  }
  return std::nullopt;
}

void writeMessage(const json::Value &Message, raw_ostream &Out) {
  std::string Text;
  raw_string_ostream(Text) << Message;
  Out << "Content-Length: " << Text.size() << "\r\n\r\n" << Text;
  Out.flush();
}

} // namespace foretrace::lsp
