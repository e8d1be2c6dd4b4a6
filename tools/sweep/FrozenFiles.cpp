// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/FrozenFiles.h"
#include "lang/ReadFile.h"

using namespace llvm;

namespace foretrace::sweep {

namespace {

/// A file whose text is owned by another object.
class KnownFile final : public vfs::File {
public:
  KnownFile(vfs::Status Of, StringRef Text) : Of(std::move(Of)), Text(Text) {}

  ErrorOr<vfs::Status> status() override { return Of; }
  ErrorOr<std::unique_ptr<MemoryBuffer>> getBuffer(const Twine &Name, int64_t,
                                                   bool RequiresNullTerminator,
                                                   bool) override {
    return MemoryBuffer::getMemBuffer(Text, Name.str(), RequiresNullTerminator);
  }
  std::error_code close() override { return {}; }

private:
  const vfs::Status Of;
  const StringRef Text;
};

} // namespace

/// Returns the known file at a path, under the guard; an error if there is
/// none. Null if it is not a regular file: such files are read each time.
ErrorOr<FrozenFiles::Known *> FrozenFiles::find(StringRef Path) {
  const auto [It, IsNew] = Files.try_emplace(Path);
  Known &K = It->second;
  if (!IsNew && K.Missing)
    return K.Missing;
  if (!IsNew)
    return &K;
  const ErrorOr<vfs::Status> Now = getUnderlyingFS().status(Path);
  if (Now && Now->isRegularFile()) {
    K.Status = *Now;
    return &K;
  }
  if (Now.getError() == std::errc::no_such_file_or_directory)
    K.Missing = Now.getError();
  else
    Files.erase(It);
  if (!Now)
    return Now.getError();
  return nullptr;
}

ErrorOr<vfs::Status> FrozenFiles::status(const Twine &Path) {
  const std::string Name = Path.str();
  const std::lock_guard<std::mutex> Lock(Guard);
  const ErrorOr<Known *> K = find(Name);
  if (!K)
    return K.getError();
  return *K ? (*K)->Status : getUnderlyingFS().status(Name);
}

bool FrozenFiles::exists(const Twine &Path) {
  return static_cast<bool>(status(Path));
}

ErrorOr<std::unique_ptr<vfs::File>>
FrozenFiles::openFileForRead(const Twine &Path) {
  const std::string Name = Path.str();
  const std::lock_guard<std::mutex> Lock(Guard);
  const ErrorOr<Known *> K = find(Name);
  if (!K)
    return K.getError();
  if (!*K)
    return getUnderlyingFS().openFileForRead(Name);
  if (!(*K)->Text) {
    auto Read = readFile(getUnderlyingFS(), Name);
    if (!Read) {
      Failure = "`" + Name + "`: " + Read.getError().message();
      return Read.getError();
    }
    (*K)->Text = std::move(*Read);
  }
  return std::make_unique<KnownFile>((*K)->Status, (*K)->Text->getBuffer());
}

std::string FrozenFiles::failure() const {
  const std::lock_guard<std::mutex> Lock(Guard);
  return Failure;
}

IntrusiveRefCntPtr<FrozenFiles> freeze(IntrusiveRefCntPtr<vfs::FileSystem> Disk,
                                       StringRef Path,
                                       std::optional<StringRef> Text) {
  if (!Text)
    return makeIntrusiveRefCnt<FrozenFiles>(std::move(Disk));
  auto Given = makeIntrusiveRefCnt<vfs::InMemoryFileSystem>();
  if (auto Folder = Disk->getCurrentWorkingDirectory())
    (void)Given->setCurrentWorkingDirectory(*Folder);
  Given->addFile(Path, /*ModificationTime=*/0,
                 MemoryBuffer::getMemBuffer(*Text));
  auto All = makeIntrusiveRefCnt<vfs::OverlayFileSystem>(std::move(Disk));
  All->pushOverlay(std::move(Given));
  return makeIntrusiveRefCnt<FrozenFiles>(std::move(All));
}

} // namespace foretrace::sweep
