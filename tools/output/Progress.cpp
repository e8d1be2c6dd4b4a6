// SPDX-License-Identifier: Apache-2.0
#include "tools/output/Progress.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <limits>

using namespace llvm;

namespace foretrace {

static constexpr std::chrono::steady_clock::duration Interval =
    std::chrono::milliseconds(500);

Progress::Progress(bool IsWanted, StringRef First, uint64_t Files)
    : First(First), Files(Files),
      Due(IsWanted && errs().is_displayed()
              ? (Clock::now() + Interval).time_since_epoch().count()
              : std::numeric_limits<Clock::rep>::max()) {}

Progress::~Progress() {
  if (HasShown)
    errs() << "\r\033[K";
}

void Progress::addBytes(uint64_t Count) {
  const uint64_t MiB = (Bytes += Count) >> 20;
  Clock::rep At = Due;
  const Clock::duration Now = Clock::now().time_since_epoch();
  // One of the threads that find it due shows it.
  if (Now.count() < At ||
      !Due.compare_exchange_strong(At, (Now + Interval).count()))
    return;
  HasShown = true;
  const std::string Line =
      Files == 1 ? formatv("\rwriting {0}: {1} MiB", First, MiB).str()
                 : formatv("\rwriting {0} of {1} files: {2} MiB",
                           FilesDone.load(), Files, MiB)
                       .str();
  errs() << Line;
}

} // namespace foretrace
