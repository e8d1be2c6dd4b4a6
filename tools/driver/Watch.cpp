// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/Watch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <thread>

using namespace llvm;

namespace foretrace::driver {

static constexpr std::chrono::milliseconds Interval(200);

namespace {

/// Properties that change when a file is written, or replaced as editors do.
struct FileStamp {
  sys::TimePoint<> Modified;
  uint64_t Size;
  sys::fs::UniqueID Id;
  friend bool operator==(const FileStamp &A, const FileStamp &B) {
    return A.Modified == B.Modified && A.Size == B.Size && A.Id == B.Id;
  }
};

} // namespace

/// Returns the stamp of a file; nothing while there is none, as during a save.
static std::optional<FileStamp> stampOf(StringRef Path) {
  sys::fs::file_status Status;
  if (sys::fs::status(Path, Status))
    return std::nullopt;
  return FileStamp{Status.getLastModificationTime(), Status.getSize(),
                   Status.getUniqueID()};
}

void watch(function_ref<std::vector<std::string>()> Run) {
  StringMap<std::optional<FileStamp>> Seen;
  for (;;) {
    if (outs().is_displayed())
      outs() << "\033[2J\033[H"; // clears, and goes to the first line
    // Stamps from before the run, so that a change during it is not missed.
    for (auto &Each : Seen)
      Each.second = stampOf(Each.first());
    const auto Start = std::chrono::system_clock::now();
    const std::vector<std::string> Files = Run();
    outs().flush();
    if (Files.empty())
      return;
    for (const std::string &Path : Files) {
      std::optional<FileStamp> New = stampOf(Path);
      if (New && New->Modified >= Start)
        New.reset(); // it may have changed after it was read
      Seen.try_emplace(Path, New);
    }
    const auto IsChanged = [&](const std::string &Path) {
      const std::optional<FileStamp> Now = stampOf(Path);
      return Now && !(Now == Seen[Path]);
    };
    while (none_of(Files, IsChanged))
      std::this_thread::sleep_for(Interval);
  }
}

} // namespace foretrace::driver
