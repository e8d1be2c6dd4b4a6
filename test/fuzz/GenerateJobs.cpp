// SPDX-License-Identifier: Apache-2.0
//
// generate-jobs FIRST COUNT FOLDER writes jobs to FOLDER/FIRST.fore and so on.
//
// generate-jobs FIRST COUNT compiles them, one after the other, and prints what
// was reported of each; on standard error the longest time and the most memory.
#include "test/fuzz/CompileJob.h"
#include "test/fuzz/GenerateJob.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <sys/resource.h>

using namespace foretrace;

static int writeJobs(uint64_t First, uint64_t Count, llvm::StringRef Folder) {
  for (uint64_t N = First; N != First + Count; ++N) {
    std::error_code EC;
    const std::string Path = llvm::formatv("{0}/{1}.fore", Folder, N);
    llvm::raw_fd_ostream Out(Path, EC);
    if (EC) {
      llvm::errs() << Path << ": " << EC.message() << '\n';
      return 1;
    }
    Out << generateJob(N);
  }
  return 0;
}

static void compileJobs(uint64_t First, uint64_t Count) {
  using Clock = std::chrono::steady_clock;
  Clock::duration Longest = {};
  uint64_t Slowest = First;
  for (uint64_t N = First; N != First + Count; ++N) {
    const Clock::time_point Begin = Clock::now();
    llvm::outs() << "== " << N << '\n' << compileJob(generateJob(N));
    llvm::outs().flush(); // so that a crash tells whose it is
    if (Clock::now() - Begin > Longest) {
      Longest = Clock::now() - Begin;
      Slowest = N;
    }
  }
  rusage Used;
  getrusage(RUSAGE_SELF, &Used);
  llvm::errs() << llvm::formatv(
      "{0} jobs; the slowest, {1}, took {2} ms; {3} MiB at most\n", Count,
      Slowest,
      std::chrono::duration_cast<std::chrono::milliseconds>(Longest).count(),
      Used.ru_maxrss / 1024);
}

int main(int ArgCount, char **Args) {
  uint64_t First = 0, Count = 0;
  if (ArgCount < 3 || ArgCount > 4 || !llvm::to_integer(Args[1], First) ||
      !llvm::to_integer(Args[2], Count)) {
    llvm::errs() << "usage: generate-jobs FIRST COUNT [FOLDER]\n";
    return 2;
  }
  if (ArgCount == 4)
    return writeJobs(First, Count, Args[3]);
  compileJobs(First, Count);
  return 0;
}
