// SPDX-License-Identifier: Apache-2.0
#include "backends/output/FileStream.h"

using namespace foretrace;

FileStream::FileStream(int FD, llvm::MutableArrayRef<char> Buffer,
                       Progress &Shown)
    : Inner(FD, /*shouldClose=*/false, /*unbuffered=*/true), Shown(Shown) {
  SetBuffer(Buffer.data(), Buffer.size());
}

llvm::ErrorOr<uint64_t> FileStream::finish() {
  flush();
  if (IsTooLong)
    return std::make_error_code(std::errc::file_too_large);
  if (std::error_code EC = Inner.error()) {
    Inner.clear_error();
    return EC;
  }
  return Written;
}

void FileStream::write_impl(const char *Data, size_t Size) {
  if (Total)
    IsTooLong |= (*Total += Size) > MaxTotal;
  if (!Inner.has_error() && !IsTooLong)
    Inner.write(Data, Size);
  Written += Size;
  Shown.addBytes(Size);
}
