// SPDX-License-Identifier: Apache-2.0
#include "tools/output/Leftover.h"
#include <atomic>
#include <iterator>
#include <mutex>
#include <unistd.h>

using namespace foretrace;

// A handler spins for the lock. Its holder on another thread has its own
// signals blocked, so it goes on.
static std::atomic_flag IsLocked = ATOMIC_FLAG_INIT;
static std::atomic<bool> Ending = false;
static Leftover *Newest = nullptr; ///< under the lock
static thread_local bool IsHolding = false;

/// Signals that end a process, except SIGKILL.
static constexpr int Deadly[] = {
    SIGHUP,  SIGINT,  SIGQUIT, SIGILL,    SIGTRAP,   SIGABRT, SIGBUS,
    SIGFPE,  SIGSYS,  SIGUSR2, SIGSEGV,   SIGPIPE,   SIGALRM, SIGTERM,
    SIGXCPU, SIGXFSZ, SIGPROF, SIGVTALRM, SIGSTKFLT, SIGIO,   SIGPWR};
static struct sigaction Previous[std::size(Deadly)];

bool Leftover::HandlesSignals = true;

static void lock() {
  while (IsLocked.test_and_set(std::memory_order_acquire)) {
  }
}

static void unlock() { IsLocked.clear(std::memory_order_release); }

void Leftover::removeLocked() noexcept {
  Ending = true;
  lock();
  for (Leftover *L = Newest; L; L = L->Older)
    L->remove();
  unlock();
}

bool Leftover::removeAll() noexcept {
  if (IsHolding)
    return false;
  sigset_t All, Before;
  (void)sigfillset(&All);
  (void)pthread_sigmask(SIG_BLOCK, &All, &Before);
  removeLocked();
  (void)pthread_sigmask(SIG_SETMASK, &Before, nullptr);
  return true;
}

/// Removes unfinished files, raises the signal for its previous handler, and
/// ends the process if that has not. All signals are blocked in the meantime.
void Leftover::handle(int Signal) {
  removeLocked();
  for (size_t I = 0; I != std::size(Deadly); ++I)
    if (Deadly[I] == Signal)
      (void)sigaction(Signal, &Previous[I], nullptr);
  sigset_t This;
  (void)sigemptyset(&This);
  (void)sigaddset(&This, Signal);
  (void)pthread_sigmask(SIG_UNBLOCK, &This, nullptr);
  (void)std::raise(Signal);
  (void)std::signal(Signal, SIG_DFL);
  (void)std::raise(Signal);
}

void Leftover::installHandlers() {
  struct sigaction Ours = {};
  Ours.sa_handler = handle;
  Ours.sa_flags = SA_ONSTACK;
  (void)sigfillset(&Ours.sa_mask);
  for (size_t I = 0; I != std::size(Deadly); ++I) {
    (void)sigaction(Deadly[I], nullptr, &Previous[I]);
    if (Previous[I].sa_handler != SIG_IGN)
      (void)sigaction(Deadly[I], &Ours, nullptr);
  }
}

bool Leftover::isEnding() { return Ending; }

void Leftover::expect() {
  static std::once_flag AreInstalled;
  if (HandlesSignals)
    std::call_once(AreInstalled, installHandlers);
  Older = Newest;
  Newest = this;
}

void Leftover::forget() {
  Leftover **At = &Newest;
  while (*At && *At != this)
    At = &(*At)->Older;
  if (*At)
    *At = Older;
}

SignalHold::SignalHold() {
  sigset_t All;
  (void)sigfillset(&All);
  (void)pthread_sigmask(SIG_BLOCK, &All, &Before);
  lock();
  IsHolding = true;
  if (!Ending)
    return;
  release();
  for (;;)
    (void)::pause();
}

void SignalHold::release() {
  IsHolding = false;
  unlock();
  (void)pthread_sigmask(SIG_SETMASK, &Before, nullptr);
}

void LeftoverFile::remove() noexcept { (void)::unlink(Path.c_str()); }
