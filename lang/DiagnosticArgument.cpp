// SPDX-License-Identifier: Apache-2.0
#include "lang/DiagnosticArgument.h"

using namespace foretrace;

void foretrace::addInteger(DiagnosticArguments &To, int64_t Value) {
  To.emplace_back(Value);
}

void foretrace::addUnsigned(DiagnosticArguments &To, uint64_t Value) {
  if (Value <= INT64_MAX)
    addInteger(To, static_cast<int64_t>(Value));
  else
    To.emplace_back(Value);
}

void foretrace::addReal(DiagnosticArguments &To, double Value) {
  To.emplace_back(Value);
}

void foretrace::addTruth(DiagnosticArguments &To, bool Value) {
  To.emplace_back(Value);
}

void foretrace::addText(DiagnosticArguments &To, llvm::StringRef Value) {
  To.emplace_back(Value.str());
}
