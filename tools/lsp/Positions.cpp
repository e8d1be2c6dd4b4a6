// SPDX-License-Identifier: Apache-2.0
#include "tools/lsp/Positions.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::lsp {

/// The bytes of the code point that \p Lead begins, and its UTF-16 units.
static std::pair<size_t, size_t> widthOf(unsigned char Lead) {
  if (Lead >= 0xf0)
    return {4, 2};
  return {Lead >= 0xe0 ? 3 : Lead >= 0xc0 ? 2 : 1, 1};
}

size_t byteAt(StringRef Text, const json::Object &Position) {
  int64_t Line = Position.getInteger("line").value_or(0);
  int64_t Units = Position.getInteger("character").value_or(0);
  size_t At = 0;
  for (; Line > 0; --Line) {
    const size_t End = Text.find('\n', At);
    if (End == StringRef::npos)
      return Text.size();
    At = End + 1;
  }
  while (Units > 0 && At < Text.size() && Text[At] != '\n') {
    const auto [Bytes, Width] = widthOf(static_cast<unsigned char>(Text[At]));
    At = std::min(At + Bytes, Text.size());
    Units -= static_cast<int64_t>(Width);
  }
  return At;
}

int64_t unitsOf(StringRef Text) {
  int64_t Units = 0;
  for (size_t At = 0; At < Text.size();) {
    const auto [Bytes, Width] = widthOf(static_cast<unsigned char>(Text[At]));
    At += Bytes;
    Units += static_cast<int64_t>(Width);
  }
  return Units;
}

size_t byteOf(StringRef Text, const json::Object &Params) {
  const json::Object *Position = Params.getObject("position");
  return Position ? byteAt(Text, *Position) : 0;
}

json::Object positionOf(StringRef Text, size_t Byte) {
  Byte = std::min(Byte, Text.size());
  const StringRef Before = Text.take_front(Byte);
  const size_t Start = Before.rfind('\n') + 1; // npos + 1 is 0
  return json::Object{{"line", static_cast<int64_t>(Before.count('\n'))},
                      {"character", unitsOf(Before.substr(Start))}};
}

json::Object rangeOf(StringRef Text, size_t Begin, size_t End) {
  return json::Object{{"start", positionOf(Text, Begin)},
                      {"end", positionOf(Text, End)}};
}

std::string pathOf(StringRef Uri) {
  if (!Uri.consume_front("file://"))
    return "";
  std::string Path;
  for (size_t I = 0; I < Uri.size(); ++I) {
    if (Uri[I] == '%' && I + 2 < Uri.size() && isHexDigit(Uri[I + 1]) &&
        isHexDigit(Uri[I + 2])) {
      Path += static_cast<char>(hexFromNibbles(Uri[I + 1], Uri[I + 2]));
      I += 2;
    } else {
      Path += Uri[I];
    }
  }
  return Path;
}

std::string uriOf(StringRef Path) {
  std::string Uri = "file://";
  for (const char C : Path)
    if (isAlnum(C) || StringRef("/-_.~").contains(C))
      Uri += C;
    else
      Uri += "%" + utohexstr(static_cast<unsigned char>(C), false, 2);
  return Uri;
}

} // namespace foretrace::lsp
