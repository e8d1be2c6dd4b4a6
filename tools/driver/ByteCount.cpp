// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/ByteCount.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace foretrace::driver {

namespace {
struct ByteUnit {
  StringLiteral Name;
  double Bytes;
};
} // namespace

/// Those in which numbers are printed come first, the largest one first.
static constexpr ByteUnit Units[] = {
    {"EiB", 0x1p60}, {"PiB", 0x1p50}, {"TiB", 0x1p40}, {"GiB", 0x1p30},
    {"MiB", 0x1p20}, {"KiB", 0x1p10}, {"B", 1},        {"", 1},
    {"KB", 1e3},     {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},
    {"PB", 1e15}};

std::optional<uint64_t> parseBytes(StringRef Text) {
  uint64_t Whole;
  if (!Text.getAsInteger(10, Whole)) // exact
    return Whole;
  const size_t End = Text.find_last_of("0123456789") + 1;
  const StringRef Unit = Text.substr(End).trim();
  const ByteUnit *Of =
      find_if(Units, [&](const ByteUnit &U) { return U.Name == Unit; });
  double Number;
  if (Of == std::end(Units) || Text.take_front(End).getAsDouble(Number))
    return std::nullopt;
  Number *= Of->Bytes;
  if (!(Number >= 0 && Number < 0x1p64))
    return std::nullopt;
  return static_cast<uint64_t>(Number);
}

std::string printBytes(double Count) {
  const ByteUnit *Of = find_if(Units, [&](const ByteUnit &U) {
    return Count >= U.Bytes || U.Bytes == 1;
  });
  std::string Text;
  raw_string_ostream(Text) << format("%.4g ", Count / Of->Bytes) << Of->Name;
  return Text;
}

bool BytesParser::parse(cl::Option &O, StringRef, StringRef Text,
                        unsigned long long &Count) {
  const std::optional<uint64_t> Read = parseBytes(Text);
  if (!Read)
    return O.error("`" + Text + "` is no number of bytes, such as 64GiB");
  Count = *Read;
  return false;
}

} // namespace foretrace::driver
