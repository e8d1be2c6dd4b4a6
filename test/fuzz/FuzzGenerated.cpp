// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as choices that make a job.
#include "test/fuzz/CompileJob.h"
#include "test/fuzz/GenerateJob.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  foretrace::compileJob(foretrace::generateJob({Data, Size}));
  return 0;
}
