// SPDX-License-Identifier: Apache-2.0
#include "tools/output/FileStream.h"

using namespace foretrace;

FileStream::FileStream(int FD, llvm::MutableArrayRef<char> Buffer,
                       Progress &Shown)
    : Inner(FD, /*shouldClose=*/false, /*unbuffered=*/true), Shown(Shown) {
  SetBuffer(Buffer.data(), Buffer.size());
}

llvm::ErrorOr<uint64_t> FileStream::finish() {
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
