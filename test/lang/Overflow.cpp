// SPDX-License-Identifier: Apache-2.0
//
// Computes a number beyond 2^63 in each way there is, with raw operators, and
// reads one that a Quantity can't have.
#include "lang/Quantity.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>

/// Numbers that no compiler can foresee.
static volatile int64_t Largest = INT64_MAX, Least = INT64_MIN, One = 1;

static int64_t wrap(llvm::StringRef How) {
  int64_t Value = Largest;
  if (How == "sum")
    return Value + One;
  if (How == "difference")
    return Least - One;
  if (How == "product")
    return Value * (One + One);
  if (How == "increment")
    return ++Value;
  if (How == "negation")
    return -Least;
  if (How == "quotient")
    return Least / -One;
  if (How == "quantity")
    return (foretrace::Bytes(Value) * 2).value();
  return 0;
}

int main(int, char **Args) {
  llvm::outs() << wrap(Args[1]) << '\n';
  return 0;
}
