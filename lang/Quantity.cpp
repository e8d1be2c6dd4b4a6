// SPDX-License-Identifier: Apache-2.0
#include "lang/Quantity.h"
#include "llvm/Support/ErrorHandling.h"

void foretrace::endOfNumbers() {
  llvm::report_fatal_error(
      "a number of this job exceeds 2^63; nothing more is written",
      /*gen_crash_diag=*/false);
}
