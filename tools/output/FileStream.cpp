// SPDX-License-Identifier: Apache-2.0
#include "tools/output/FileStream.h"
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
  // Only one of the threads that find it due shows it.
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

FileStream::FileStream(int FD, MutableArrayRef<char> Buffer, Progress &Shown)
    : Inner(FD, /*shouldClose=*/false, /*unbuffered=*/true), Shown(Shown) {
  SetBuffer(Buffer.data(), Buffer.size());
}

ErrorOr<uint64_t> FileStream::finish() {
  flush();
  if (Failed)
    return Failed;
  return Written;
}

void FileStream::write_impl(const char *Data, size_t Size) {
  if (Failed)
    return;
  if (Total && (*Total += Size) > MaxTotal) {
    Failed = std::make_error_code(std::errc::file_too_large);
    return;
  }
  Inner.write(Data, Size);
  Failed = Inner.error();
  Inner.clear_error(); // the stream's own end is not to be a crash
  Written += Size;
  Shown.addBytes(Size);
}

} // namespace foretrace
