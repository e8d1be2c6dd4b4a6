// SPDX-License-Identifier: Apache-2.0
#include "lang/NumberText.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
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

std::string foretrace::printMebibytes(int64_t Bytes) {
  return formatv("{0:f1}", static_cast<double>(Bytes) / (1 << 20));
}

std::string foretrace::printRange(int64_t First, int64_t Count, StringRef To) {
  std::string Text = std::to_string(First);
  if (Count > 1)
    Text += To.str() + std::to_string(First + Count - 1);
  return Text;
}
