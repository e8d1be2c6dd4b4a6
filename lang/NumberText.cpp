// SPDX-License-Identifier: Apache-2.0
#include "lang/NumberText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace foretrace;
using namespace llvm;

ArrayRef<NumberScale> foretrace::byteScales() {
  static constexpr NumberScale Scales[] = {
      {" B", 1, 0},        {" KiB", 0x1p10, 2}, {" MiB", 0x1p20, 2},
      {" GiB", 0x1p30, 2}, {" TiB", 0x1p40, 2}, {" PiB", 0x1p50, 2},
      {" EiB", 0x1p60, 2}};
  return Scales;
}

ArrayRef<NumberScale> foretrace::countScales() {
  static constexpr NumberScale Scales[] = {
      {"", 1, 0}, {" M", 1e6, 2}, {" B", 1e9, 3}, {" T", 1e12, 3}};
  return Scales;
}

ArrayRef<NumberScale> foretrace::flopScales() {
  static constexpr NumberScale Scales[] = {
      {" FLOP", 1, 0},     {" kFLOP", 1e3, 2},  {" MFLOP", 1e6, 2},
      {" GFLOP", 1e9, 2},  {" TFLOP", 1e12, 2}, {" PFLOP", 1e15, 2},
      {" EFLOP", 1e18, 2}, {" ZFLOP", 1e21, 2}, {" YFLOP", 1e24, 2}};
  return Scales;
}

ArrayRef<NumberScale> foretrace::timeScales() {
  static constexpr NumberScale Scales[] = {
      {" ns", 1, 0}, {" us", 1e3, 2}, {" ms", 1e6, 2}, {" s", 1e9, 3}};
  return Scales;
}

const NumberScale &foretrace::scaleFor(double Number,
                                       ArrayRef<NumberScale> Scales) {
  const auto *It = find_if(drop_begin(Scales),
                           [&](const NumberScale &S) { return Number < S.Of; });
  return *std::prev(It);
}

std::string foretrace::printScaled(double Number,
                                   ArrayRef<NumberScale> Scales) {
  const NumberScale &In = scaleFor(Number, Scales);
  std::string Text;
  raw_string_ostream OS(Text);
  if (In.Of == 1)
    OS << format("%.0f", Number);
  else
    OS << format("%.4g", Number / In.Of);
  OS << In.Suffix;
  return Text;
}

std::string foretrace::printBytes(double Count) {
  return printScaled(Count, byteScales());
}

std::string foretrace::printCount(double Count) {
  return printScaled(Count, countScales());
}

std::string foretrace::printRange(IndexRange Of, StringRef To) {
  std::string Text = std::to_string(Of.First);
  if (Of.Count > 1)
    Text += To.str() + std::to_string(Of.last());
  return Text;
}

std::string foretrace::printPair(IndexRange Of) {
  return "[" + std::to_string(Of.First) + ", " + std::to_string(Of.last()) +
         "]";
}
