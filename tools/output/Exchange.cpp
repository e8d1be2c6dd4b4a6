// SPDX-License-Identifier: Apache-2.0
#include "tools/output/Exchange.h"
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

using namespace foretrace;

static std::error_code lastError() { return {errno, std::generic_category()}; }

/// Exchanges files where the file system can't, as NFS: a second name keeps the
/// old one.
static Exchange exchangeByLink(const std::string &From, const std::string &To) {
  const std::string Old = From + ".old";
  if (::link(To.c_str(), Old.c_str()) != 0 &&
      std::rename(To.c_str(), Old.c_str()) != 0)
    return {lastError(), /*HasOld=*/false, /*Stranded=*/""};
  Exchange Done;
  if (std::rename(From.c_str(), To.c_str()) == 0 &&
      std::rename(Old.c_str(), From.c_str()) == 0) {
    Done.HasOld = true;
    return Done;
  }
  Done.Failed = lastError();
  // rename() keeps both names of a file that has two, so one is removed.
  if (std::rename(Old.c_str(), To.c_str()) != 0)
    Done.Stranded = Old;
  else
    (void)::unlink(Old.c_str());
  return Done;
}

Exchange foretrace::exchange(const std::string &From, const std::string &To) {
  const auto Renamed = [&](unsigned Flags) {
    return ::renameat2(AT_FDCWD, From.c_str(), AT_FDCWD, To.c_str(), Flags) ==
           0;
  };
  Exchange Done;
  // Mostly the target does not exist, and one call is enough.
  if (Renamed(RENAME_NOREPLACE))
    return Done;
  if (errno == EEXIST) {
    Done.HasOld = Renamed(RENAME_EXCHANGE);
    if (Done.HasOld)
      return Done;
  }
  if (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP) {
    if (::access(To.c_str(), F_OK) == 0)
      return exchangeByLink(From, To);
    errno = ENOENT;
  }
  if (errno != ENOENT || std::rename(From.c_str(), To.c_str()) != 0)
    Done.Failed = lastError();
  return Done;
}

std::error_code foretrace::syncFolder(const std::string &Path) {
  const int FD = ::open(Path.empty() ? "." : Path.c_str(),
                        O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (FD < 0)
    return lastError();
  std::error_code Failed;
  if (::fsync(FD) != 0 && errno != EINVAL) // some have nothing to write out
    Failed = lastError();
  (void)::close(FD);
  return Failed;
}
