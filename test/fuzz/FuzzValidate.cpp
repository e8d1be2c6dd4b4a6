// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a workload table and as a GOAL schedule, whatever they are taken
// for.
#include "tools/validate/Format.h"
#include "tools/validate/GoalCheck.h"
#include "tools/validate/SimaiCheck.h"
#include <cstdlib>

using namespace foretrace::validate;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  const llvm::StringRef Text(reinterpret_cast<const char *>(Data), Size);
  (void)recognize(Text);
  for (auto *Check : {checkTable, checkGoal}) {
    Findings Out;
    if (Check(Text, "file", Out).empty())
      std::abort();
    Out.print(llvm::nulls());
    Out.printJSON(llvm::nulls());
  }
  return 0;
}
