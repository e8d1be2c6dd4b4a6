// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a job.
#include "test/fuzz/CompileJob.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  foretrace::compileJob({reinterpret_cast<const char *>(Data), Size});
  return 0;
}
