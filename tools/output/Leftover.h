// SPDX-License-Identifier: Apache-2.0
//
// What must not outlive the process: removed by whoever owns it, or by what
// ends the process, as the handler of a signal.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <csignal>
#include <string>

namespace foretrace {

/// Something on the file system that is removed when a signal or an error ends
/// the process: the newest first, and then the signal's former handler runs.
/// Signals that were ignored stay so.
class Leftover {
public:
  Leftover(const Leftover &) = delete;
  Leftover &operator=(const Leftover &) = delete;

  /// Removes what is left: the process is about to end. False, and nothing is
  /// removed, if this thread holds signals: it is in the midst of a step.
  /// Allocates nothing.
  static bool removeAll() noexcept;
  /// Leaves signals to the program that this is a part of, an interpreter. A
  /// signal that ends it leaves unfinished files. Must be called before the
  /// first file is written.
  static void leaveSignals() { HandlesSignals = false; }

protected:
  Leftover() = default;
  ~Leftover() = default;

  /// Returns whether the process is about to end: nothing new shall be opened.
  static bool isEnding();

  /// From now on a signal removes it. Must be called with signals held since
  /// before it was made, so that a signal at no time leaves it behind.
  void expect();
  /// Signals no longer remove it.
  void forget();

private:
  static void installHandlers();
  static void removeLocked() noexcept;
  static void handle(int Signal);
  static bool HandlesSignals;
  /// Removes it; async-signal-safe, and harmless if it no longer exists.
  virtual void remove() noexcept = 0;

  Leftover *Older = nullptr;
};

/// While one lives a signal waits, whichever thread it is sent to: for steps
/// that are done as a whole or not at all. They don't nest. If the process is
/// about to end none begins: what a step would work on is gone.
class SignalHold {
public:
  SignalHold();
  ~SignalHold() { release(); }
  SignalHold(const SignalHold &) = delete;
  SignalHold &operator=(const SignalHold &) = delete;

private:
  void release();

  sigset_t Before;
};

/// Removes the file at a path when it is destroyed, or when a signal or an
/// error ends the process; no matter if there is none.
class LeftoverFile final : public Leftover {
public:
  explicit LeftoverFile(llvm::StringRef Path) : Path(Path) {
    const SignalHold Hold;
    expect();
  }
  ~LeftoverFile() {
    const SignalHold Hold;
    remove();
    forget();
  }

  llvm::StringRef path() const { return Path; }

private:
  void remove() noexcept override;

  const std::string Path;
};

} // namespace foretrace
