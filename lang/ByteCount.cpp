// SPDX-License-Identifier: Apache-2.0
#include "lang/ByteCount.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

std::string foretrace::printBytes(double Count) {
  static constexpr StringLiteral Units[] = {"B",   "KiB", "MiB", "GiB",
                                            "TiB", "PiB", "EiB"};
  const StringLiteral *Unit = Units;
  for (; Count >= 1024 && Unit + 1 != std::end(Units); ++Unit)
    Count /= 1024;
  std::string Text;
  raw_string_ostream(Text) << format("%.4g ", Count) << *Unit;
  return Text;
}
