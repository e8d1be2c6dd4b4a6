// SPDX-License-Identifier: Apache-2.0
#include "lang/ReadFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"

namespace fs = llvm::sys::fs;
using llvm::ErrorOr;
using llvm::MemoryBuffer;
using llvm::StringRef;

namespace {

enum class ReadError { NotRegular = 1, TooLarge };

/// Errors that the system has no number for.
class ReadErrors : public std::error_category {
public:
  const char *name() const noexcept override { return "read"; }
  std::string message(int Code) const override {
    return static_cast<ReadError>(Code) == ReadError::NotRegular
               ? "not a regular file"
               : "larger than any input";
  }
};

} // namespace

static std::error_code makeError(ReadError E) {
  static const ReadErrors Category;
  return {static_cast<int>(E), Category};
}

/// Returns whether a shell has opened this for us, as `<(command)` does.
static bool isOpenedByShell(StringRef Path) {
  return Path == "/dev/stdin" || Path.starts_with("/dev/fd/");
}

/// Returns the status of the file at a path, if it can be read.
static ErrorOr<llvm::vfs::Status>
statusOfReadable(llvm::vfs::FileSystem &System, StringRef Path) {
  ErrorOr<llvm::vfs::Status> Status = System.status(Path);
  if (!Status)
    return Status;
  if (Status->isDirectory())
    return std::make_error_code(std::errc::is_a_directory);
  if (Status->isRegularFile() || isOpenedByShell(Path))
    return Status;
  return makeError(ReadError::NotRegular);
}

std::error_code foretrace::checkRegular(StringRef Path) {
  const ErrorOr<llvm::vfs::Status> Status =
      statusOfReadable(*llvm::vfs::getRealFileSystem(), Path);
  if (Status && !Status->isRegularFile())
    return makeError(ReadError::NotRegular);
  return Status.getError();
}

/// Reads a file that may have no end piece by piece.
static ErrorOr<std::unique_ptr<MemoryBuffer>>
readStream(fs::file_t From, StringRef Name, uint64_t MostBytes) {
  constexpr size_t Piece = 1 << 16;
  llvm::SmallString<0> Text;
  while (Text.size() <= MostBytes) {
    const size_t Before = Text.size();
    Text.resize_for_overwrite(Before + Piece);
    llvm::Expected<size_t> Read =
        fs::readNativeFile(From, {Text.data() + Before, Piece});
    if (!Read)
      return llvm::errorToErrorCode(Read.takeError());
    Text.truncate(Before + *Read);
    if (*Read == 0)
      return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(Text),
                                                             Name);
  }
  return makeError(ReadError::TooLarge);
}

static ErrorOr<std::unique_ptr<MemoryBuffer>> readOpened(StringRef Path,
                                                         uint64_t MostBytes) {
  llvm::Expected<fs::file_t> File = fs::openNativeFileForRead(Path);
  if (!File)
    return llvm::errorToErrorCode(File.takeError());
  auto Read = readStream(*File, Path, MostBytes);
  (void)fs::closeFile(*File);
  return Read;
}

ErrorOr<std::unique_ptr<MemoryBuffer>>
foretrace::readFile(llvm::vfs::FileSystem &System, StringRef Path,
                    uint64_t MostBytes) {
  const ErrorOr<llvm::vfs::Status> Status = statusOfReadable(System, Path);
  if (!Status)
    return Status.getError();
  if (!Status->isRegularFile())
    return readOpened(Path, MostBytes);
  if (Status->getSize() > MostBytes)
    return makeError(ReadError::TooLarge);
  return System.getBufferForFile(Path);
}

ErrorOr<std::unique_ptr<MemoryBuffer>>
foretrace::readLargeFile(StringRef Path) {
  const ErrorOr<llvm::vfs::Status> Status =
      statusOfReadable(*llvm::vfs::getRealFileSystem(), Path);
  if (!Status)
    return Status.getError();
  if (!Status->isRegularFile())
    return readOpened(Path, MaxTextSize);
  return MemoryBuffer::getFile(Path, /*IsText=*/false,
                               /*RequiresNullTerminator=*/false);
}

ErrorOr<std::unique_ptr<MemoryBuffer>>
foretrace::readStdin(uint64_t MostBytes) {
  return readStream(fs::getStdinHandle(), "<stdin>", MostBytes);
}
