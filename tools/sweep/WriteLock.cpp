// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/WriteLock.h"
#include "llvm/Support/Duration.h"

using namespace llvm;

namespace foretrace::sweep {

Expected<WriteLock> WriteLock::take(StringRef Path) {
  WriteLock L;
  L.Beside = (Path + ".lock").str();
  std::optional<sys::fs::FileLocker> Held;
  do {
    std::error_code Code;
    L.File = std::make_unique<OpenFile>(L.Beside, Code, sys::fs::CD_OpenAlways,
                                        sys::fs::FA_Write, sys::fs::OF_None);
    if (Code)
      return createStringError("`" + Path +
                               "`: cannot be written: " + Code.message());
    Expected<sys::fs::FileLocker> Now =
        L.File->tryLockFor(Duration(std::chrono::milliseconds(0)));
    if (!Now) {
      consumeError(Now.takeError());
      return createStringError("`" + Path + "`: another sweep writes to it");
    }
    Held.emplace(std::move(*Now));
    // The previous holder may have removed the file since it was opened.
  } while (!L.File->isAt(L.Beside));
  uint64_t Size = 0;
  if (sys::fs::file_size(L.Beside, Size) || Size != 0) // no lock has a byte
    return createStringError("`" + Path + "`: cannot be locked: `" + L.Beside +
                             "` is a file of another kind");
  L.Held = std::make_unique<sys::fs::FileLocker>(std::move(*Held));
  return L;
}

bool WriteLock::OpenFile::isAt(StringRef Path) const {
  sys::fs::file_status Here, There;
  return !sys::fs::status(get_fd(), Here) && !sys::fs::status(Path, There) &&
         sys::fs::equivalent(Here, There);
}

WriteLock::~WriteLock() {
  if (!Held)
    return;
  // Removed before it is unlocked. If it stays, a second try is cheap.
  if (sys::fs::remove(Beside))
    (void)sys::fs::remove(Beside);
  Held.reset();
  File->close();
  File->clear_error(); // nothing was written
}

} // namespace foretrace::sweep
