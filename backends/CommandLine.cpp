// SPDX-License-Identifier: Apache-2.0
#include "backends/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace foretrace;

std::string foretrace::shellQuoted(llvm::StringRef Text) {
  std::string Quoted = "'";
  for (char C : Text)
    if (C == '\'')
      Quoted += "'\\''";
    else
      Quoted += C;
  return Quoted + "'";
}

std::string foretrace::gibibytes(double BytesPerSecond) {
  std::string Text;
  llvm::raw_string_ostream(Text)
      << llvm::format("%.7g", BytesPerSecond / (1 << 30));
  return Text;
}

std::string foretrace::decimalFraction(int64_t Value, unsigned Digits) {
  std::string Text = std::to_string(Value);
  if (Text.size() <= Digits)
    Text.insert(0, Digits + 1 - Text.size(), '0');
  Text.insert(Text.size() - Digits, ".");
  return llvm::StringRef(Text).rtrim('0').rtrim('.').str();
}
