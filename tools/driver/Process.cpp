// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/Process.h"
#include "tools/output/Leftover.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/thread.h"
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <sys/resource.h>
#include <unistd.h>

/// Removes unfinished files and ends like any filter whose output is closed, as
/// in `foretrace groups job.fore | head`.
static void endOfPipe() {
  (void)std::signal(SIGPIPE, SIG_DFL);
  (void)std::raise(SIGPIPE);
}

/// Returns the signals that the parent process wants to be ignored, such as
/// SIGHUP by `nohup` and SIGPIPE by systemd.
static llvm::SmallVector<int> ignoredSignals() {
  llvm::SmallVector<int> Ignored;
  for (int Signal = 1; Signal != NSIG; ++Signal) {
    struct sigaction Now;
    if (sigaction(Signal, nullptr, &Now) == 0 && Now.sa_handler == SIG_IGN)
      Ignored.push_back(Signal);
  }
  return Ignored;
}

/// Ends at once, on whichever thread, without what was begun. Allocates
/// nothing.
[[noreturn]] static void endOnError(void *, const char *Reason, bool) {
  llvm::errs() << "foretrace: error: " << Reason;
  if (!foretrace::Leftover::removeAll())
    llvm::errs() << ", just when files got their names: some may have theirs, "
                    "and others stand in `.foretrace-...`";
  llvm::errs() << '\n';
  llvm::sys::RunInterruptHandlers();
  _exit(3); // as ExitEnvironment
}

[[noreturn]] static void endWithoutMemory(void *Data, const char *, bool) {
  endOnError(Data, "out of memory", false);
}

/// Reports failed writes to standard output, from any printer: LLVM's streams
/// would crash.
static void checkOutput() {
  llvm::outs().flush();
  llvm::errs().clear_error(); // the failure can't be reported
  const std::error_code Failed = llvm::outs().error();
  if (!Failed)
    return;
  llvm::outs().clear_error();
  llvm::errs() << "foretrace: standard output: " << Failed.message() << '\n';
  llvm::errs().clear_error();
  _exit(3); // as ExitEnvironment
}

/// The limits on how deep input nests suit this stack, whatever the shell's.
static constexpr unsigned StackSize = 64 << 20;

/// How many LargeStacks there are, and what threads have without.
static std::mutex StacksGuard;
static unsigned NumLargeStacks = 0;
static std::optional<pthread_attr_t> UsualStacks;

foretrace::driver::LargeStacks::LargeStacks() {
  const std::lock_guard<std::mutex> Lock(StacksGuard);
  pthread_attr_t Usual, Large;
  if (NumLargeStacks++ != 0 || pthread_getattr_default_np(&Usual) != 0)
    return;
  UsualStacks = Usual;
  if (pthread_getattr_default_np(&Large) != 0)
    return;
  if (pthread_attr_setstacksize(&Large, StackSize) == 0)
    (void)pthread_setattr_default_np(&Large);
  (void)pthread_attr_destroy(&Large);
}

foretrace::driver::LargeStacks::~LargeStacks() {
  const std::lock_guard<std::mutex> Lock(StacksGuard);
  if (--NumLargeStacks != 0 || !UsualStacks)
    return;
  (void)pthread_setattr_default_np(&*UsualStacks);
  (void)pthread_attr_destroy(&*UsualStacks);
  UsualStacks.reset();
}

/// Returns whether the stack of the process may grow to that size, now.
static bool raiseStackLimit() {
  rlimit Limit;
  if (getrlimit(RLIMIT_STACK, &Limit) != 0)
    return false;
  if (Limit.rlim_cur >= StackSize)
    return true;
  Limit.rlim_cur = StackSize;
  return Limit.rlim_max >= StackSize && setrlimit(RLIMIT_STACK, &Limit) == 0;
}

/// Runs \p Work on its own stack. Signals go to the thread that works, so this
/// one blocks them all.
static void runOnThread(llvm::function_ref<void()> Work) {
  sigset_t All, Before;
  sigfillset(&All);
  (void)pthread_sigmask(SIG_SETMASK, &All, &Before);
  llvm::thread([&] {
    (void)pthread_sigmask(SIG_SETMASK, &Before, nullptr);
    Work();
  }).join();
  (void)pthread_sigmask(SIG_SETMASK, &Before, nullptr);
}

int foretrace::driver::runProcess(
    int Argc, char **Argv, llvm::function_ref<int(int, char **)> CommandLine) {
  (void)llvm::outs(); // destroyed after the check, which is registered later
  (void)llvm::errs();
  (void)std::atexit(checkOutput);
  const llvm::SmallVector<int> Ignored = ignoredSignals();
  // LLVM's own handler exits with 74.
  llvm::sys::SetOneShotPipeSignalFunction(endOfPipe);
  llvm::InitLLVM Init(Argc, Argv, /*InstallPipeSignalExitHandler=*/false);
  // LLVM takes these for crashes.
  for (int Signal : {SIGQUIT, SIGXCPU})
    (void)std::signal(Signal, SIG_DFL);
  for (int Signal : Ignored) // LLVM handles these, too
    (void)std::signal(Signal, SIG_IGN);
  // The writer reports a limit on file sizes as it reports a full disk.
  (void)std::signal(SIGXFSZ, SIG_IGN);
  llvm::install_fatal_error_handler(endOnError);
  llvm::install_bad_alloc_error_handler(endWithoutMemory);
  llvm::setBugReportMsg(
      "foretrace crashed, which it never should; please report it with the "
      "command, its input and what follows.\n");
  int Code = 0;
  const LargeStacks OfThreads;
  auto Run = [&] { Code = CommandLine(Argc, Argv); };
  if (raiseStackLimit())
    Run();
  else
    runOnThread(Run);
  return Code;
}
