// SPDX-License-Identifier: Apache-2.0
//
// A library for LD_PRELOAD that has a system call fail: the FAULT_AT-th, from
// 1, of FAULT_CALL on a file below FAULT_FOLDER, with the number FAULT_ERRNO;
// with FAULT_LASTS those after it, too. If FAULT_CALL is `memory` there is no
// memory left from the FAULT_AT-th `open` on. How many calls there were is
// written to FAULT_COUNT. With FAULT_NO_EXCHANGE no files can be exchanged, as
// on NFS; with FAULT_NO_LINK they have one name each, as on FAT; FAULT_FREE is
// how many bytes a file system has left.
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace {

struct Setting {
  std::string Call, Folder, Count;
  long At = 0;
  int Errno = EIO;
  bool HasExchange = true, HasLinks = true, Lasts = false;
};

std::string variable(const char *Name) {
  const char *Text = std::getenv(Name);
  return Text ? Text : "";
}

std::atomic<long> Seen = 0;
std::atomic<bool> HasMemory = true;

const Setting &setting() {
  static const Setting *Known = [] {
    auto *S = new Setting{variable("FAULT_CALL"), variable("FAULT_FOLDER"),
                          variable("FAULT_COUNT")};
    S->At = std::atol(variable("FAULT_AT").c_str());
    if (const int Number = std::atoi(variable("FAULT_ERRNO").c_str()))
      S->Errno = Number;
    S->HasExchange = variable("FAULT_NO_EXCHANGE").empty();
    S->HasLinks = variable("FAULT_NO_LINK").empty();
    S->Lasts = !variable("FAULT_LASTS").empty();
    return S;
  }();
  return *Known;
}

bool isBelow(std::string Path) {
  if (Path.empty() || setting().Folder.empty())
    return false;
  if (Path[0] != '/') {
    char Here[PATH_MAX];
    if (!getcwd(Here, sizeof(Here)))
      return false;
    Path = std::string(Here) + "/" + Path;
  }
  // The folder itself counts, too.
  return (Path + "/").rfind(setting().Folder + "/", 0) == 0;
}

bool isBelow(int FD) {
  char Link[64], Path[PATH_MAX];
  std::snprintf(Link, sizeof(Link), "/proc/self/fd/%d", FD);
  const ssize_t Size = readlink(Link, Path, sizeof(Path));
  return Size > 0 && isBelow(std::string(Path, static_cast<size_t>(Size)));
}

/// Whether this call is one that fails; errno says why.
template <typename FileT> bool fails(const char *Call, FileT File) {
  if (setting().Call == "memory" && Call == std::string("open") &&
      isBelow(File) && ++Seen == setting().At)
    HasMemory = false;
  if (setting().Call != Call)
    return false;
  const int Before = errno;
  bool IsIt = false;
  if (isBelow(File)) {
    const long Number = ++Seen;
    IsIt = setting().Lasts ? setting().At > 0 && Number >= setting().At
                           : Number == setting().At;
  }
  errno = IsIt ? setting().Errno : Before;
  return IsIt;
}

__attribute__((destructor)) void writeCount() {
  if (setting().Count.empty())
    return;
  if (std::FILE *File = std::fopen(setting().Count.c_str(), "w")) {
    std::fprintf(File, "%ld\n", Seen.load());
    std::fclose(File);
  }
}

} // namespace

// What follows takes the place of functions of the system.
#pragma GCC visibility push(default)

/// The function that stands behind ours.
#define REAL(NAME)                                                             \
  static auto *const Real =                                                    \
      reinterpret_cast<decltype(&NAME)>(dlsym(RTLD_NEXT, #NAME))

/// A call \p NAME on the file \p FILE, counted as \p AS.
#define WRAP(RESULT, NAME, AS, FILE, PARAMETERS, ARGUMENTS)                    \
  extern "C" RESULT NAME PARAMETERS {                                          \
    REAL(NAME);                                                                \
    return fails(AS, FILE) ? -1 : Real ARGUMENTS;                              \
  }

#define WRAP_OPEN(NAME)                                                        \
  extern "C" int NAME(const char *Path, int Flags, ...) {                      \
    REAL(NAME);                                                                \
    va_list Rest;                                                              \
    va_start(Rest, Flags);                                                     \
    const mode_t Mode = va_arg(Rest, mode_t);                                  \
    va_end(Rest);                                                              \
    return fails("open", Path) ? -1 : Real(Path, Flags, Mode);                 \
  }
#define WRAP_OPENAT(NAME)                                                      \
  extern "C" int NAME(int At, const char *Path, int Flags, ...) {              \
    REAL(NAME);                                                                \
    va_list Rest;                                                              \
    va_start(Rest, Flags);                                                     \
    const mode_t Mode = va_arg(Rest, mode_t);                                  \
    va_end(Rest);                                                              \
    return fails("open", Path) ? -1 : Real(At, Path, Flags, Mode);             \
  }

WRAP_OPEN(open)
WRAP_OPENAT(openat)
#ifdef __USE_LARGEFILE64
WRAP_OPEN(open64)
WRAP_OPENAT(openat64)
WRAP(int, creat64, "open", Path, (const char *Path, mode_t Mode), (Path, Mode))
WRAP(ssize_t, pwrite64, "write", FD,
     (int FD, const void *Data, size_t Size, off64_t At), (FD, Data, Size, At))
WRAP(int, ftruncate64, "ftruncate", FD, (int FD, off64_t Size), (FD, Size))
#endif
WRAP(int, creat, "open", Path, (const char *Path, mode_t Mode), (Path, Mode))
WRAP(ssize_t, write, "write", FD, (int FD, const void *Data, size_t Size),
     (FD, Data, Size))
WRAP(ssize_t, pwrite, "write", FD,
     (int FD, const void *Data, size_t Size, off_t At), (FD, Data, Size, At))
WRAP(ssize_t, writev, "write", FD, (int FD, const iovec *Data, int Count),
     (FD, Data, Count))
WRAP(ssize_t, copy_file_range, "write", Out,
     (int In, off64_t *From, int Out, off64_t *To, size_t Size, unsigned Flags),
     (In, From, Out, To, Size, Flags))
WRAP(int, ftruncate, "ftruncate", FD, (int FD, off_t Size), (FD, Size))
WRAP(int, fsync, "fsync", FD, (int FD), (FD))
WRAP(int, fdatasync, "fsync", FD, (int FD), (FD))
WRAP(int, fchmod, "fchmod", FD, (int FD, mode_t Mode), (FD, Mode))
WRAP(int, fchown, "fchown", FD, (int FD, uid_t User, gid_t Group),
     (FD, User, Group))
WRAP(int, mkdir, "mkdir", Path, (const char *Path, mode_t Mode), (Path, Mode))
WRAP(int, rmdir, "rmdir", Path, (const char *Path), (Path))
WRAP(int, unlink, "unlink", Path, (const char *Path), (Path))
WRAP(int, remove, "unlink", Path, (const char *Path), (Path))
WRAP(int, rename, "rename", To, (const char *From, const char *To), (From, To))

extern "C" int link(const char *From, const char *To) {
  REAL(link);
  if (fails("link", To))
    return -1;
  if (setting().HasLinks)
    return Real(From, To);
  errno = EPERM;
  return -1;
}

extern "C" void *__libc_malloc(size_t Size);
extern "C" void *malloc(size_t Size) noexcept {
  if (HasMemory)
    return __libc_malloc(Size);
  errno = ENOMEM;
  return nullptr;
}

/// A file is closed all the same.
extern "C" int close(int FD) {
  REAL(close);
  const bool IsIt = fails("close", FD);
  const int Result = Real(FD);
  if (!IsIt)
    return Result;
  errno = setting().Errno;
  return -1;
}

extern "C" int renameat2(int AtFrom, const char *From, int AtTo, const char *To,
                         unsigned Flags) noexcept {
  REAL(renameat2);
  if (fails("rename", To))
    return -1;
  if (setting().HasExchange || Flags == 0)
    return Real(AtFrom, From, AtTo, To, Flags);
  errno = EINVAL;
  return -1;
}

#define WRAP_STATFS(NAME, STRUCT)                                              \
  extern "C" int NAME(const char *Path, struct STRUCT *Of) noexcept {          \
    REAL(NAME);                                                                \
    const int Result = Real(Path, Of);                                         \
    if (const char *Free = std::getenv("FAULT_FREE"); Free && Result == 0)     \
      Of->f_bavail = static_cast<unsigned long>(std::atol(Free)) /             \
                     static_cast<unsigned long>(Of->f_bsize);                  \
    return Result;                                                             \
  }

WRAP_STATFS(statfs, statfs)
#ifdef __USE_LARGEFILE64
WRAP_STATFS(statfs64, statfs64)
#endif

#pragma GCC visibility pop
