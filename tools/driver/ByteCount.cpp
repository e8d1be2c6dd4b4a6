// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/ByteCount.h"

using namespace llvm;

namespace foretrace::driver {

namespace {
enum class UnitDimension {
#define DIMENSION(ENUMERATOR, TEXT) ENUMERATOR,
#include "frontend/Units.def"
};
} // namespace

/// Returns the bytes of a unit of the language; none if it is no unit of bytes.
static std::optional<double> bytesOfUnit(StringRef Unit) {
#define UNIT(WORD, DIMENSION, NUMERATOR, DENOMINATOR)                          \
  if (UnitDimension::DIMENSION == UnitDimension::Bytes && Unit == WORD)        \
    return static_cast<double>(NUMERATOR) / (DENOMINATOR);
#include "frontend/Units.def"
  if (Unit.empty())
    return 1;
  return std::nullopt;
}

std::optional<uint64_t> parseBytes(StringRef Text) {
  uint64_t Whole;
  if (!Text.getAsInteger(10, Whole)) // exact
    return Whole;
  const size_t End = Text.find_last_of("0123456789") + 1;
  const StringRef Unit = Text.substr(End).trim();
  const std::optional<double> UnitBytes = bytesOfUnit(Unit);
  double Number;
  if (!UnitBytes || Text.take_front(End).getAsDouble(Number))
    return std::nullopt;
  Number *= *UnitBytes;
  if (!(Number >= 0 && Number < 0x1p64))
    return std::nullopt;
  return static_cast<uint64_t>(Number);
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
