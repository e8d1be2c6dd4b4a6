// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/WriteLock.h"
#include "llvm/Support/Duration.h"

using namespace llvm;

namespace foretrace::sweep {

Expected<WriteLock> WriteLock::take(StringRef Path) {
  WriteLock L;
  L.Beside = (Path + ".lock").str();
  std::error_code Code;
  L.File =
      std::make_unique<raw_fd_ostream>(L.Beside, Code, sys::fs::CD_OpenAlways,
                                       sys::fs::FA_Write, sys::fs::OF_None);
  if (Code)
    return createStringError("`" + Path +
                             "`: cannot be written: " + Code.message());
  Expected<sys::fs::FileLocker> Held =
      L.File->tryLockFor(Duration(std::chrono::milliseconds(0)));
  if (!Held) {
    consumeError(Held.takeError());
    return createStringError("`" + Path + "`: another sweep writes to it");
  }
  L.Held = std::make_unique<sys::fs::FileLocker>(std::move(*Held));
  return L;
}

WriteLock::~WriteLock() {
  if (Held)
    (void)sys::fs::remove(Beside); // before it is free
}

} // namespace foretrace::sweep
