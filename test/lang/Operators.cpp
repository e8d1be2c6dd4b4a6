// SPDX-License-Identifier: Apache-2.0
//
// Prints quotients and rests of integers and of the same reals.
#include "lang/Compute.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace foretrace;

static void print(BinaryOp Op, int64_t A, int64_t B) {
  const std::optional<int64_t> Integer = compute(Op, A, B);
  llvm::outs() << llvm::formatv("{0} {1} {2} is {3}", A, getSpelling(Op), B,
                                Integer ? std::to_string(*Integer) : "none");
  if (Integer)
    llvm::outs() << llvm::formatv(
        " and {0:f1}",
        compute(Op, static_cast<double>(A), static_cast<double>(B)));
  llvm::outs() << '\n';
}

int main(int, char **) {
  for (const BinaryOp Op : {BinaryOp::FloorDiv, BinaryOp::Mod})
    for (const int64_t A : {-7, 7, -6})
      for (const int64_t B : {-3, 3})
        print(Op, A, B);
  for (const int64_t B : {0, -1, 3}) {
    print(BinaryOp::FloorDiv, INT64_MIN, B);
    print(BinaryOp::Mod, INT64_MIN, B);
  }
  return 0;
}
