// SPDX-License-Identifier: Apache-2.0
//
// One door to files that are read whole. What never ends, as a device or a
// pipe that nobody writes to, is refused before it is opened.
#pragma once

#include "llvm/Support/ErrorOr.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <memory>

namespace foretrace {

/// Bytes of a text that is read whole: many times what a job, a measured
/// profile or a program of the IR needs.
constexpr uint64_t MaxTextSize = uint64_t(64) << 20;

/// Reads a regular file, or what a shell has opened for the process
/// (`/dev/fd/63`, `/dev/stdin`), of at most \p MostBytes.
llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>
readFile(llvm::vfs::FileSystem &System, llvm::StringRef Path,
         uint64_t MostBytes = MaxTextSize);

/// Reads a regular file of any size from the disk, or at most MaxTextSize of
/// what a shell has opened. Nothing ends the text.
llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>
readLargeFile(llvm::StringRef Path);

/// Reads standard input, which messages call `<stdin>`, as `readFile` does.
llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>
readStdin(uint64_t MostBytes = MaxTextSize);

/// Checks that \p Path is a regular file, which can be read more than once.
std::error_code checkRegular(llvm::StringRef Path);

} // namespace foretrace
