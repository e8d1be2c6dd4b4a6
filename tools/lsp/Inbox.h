// SPDX-License-Identifier: Apache-2.0
//
// A queue of received messages, filled by a reader thread.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace foretrace::lsp {

/// A queue of messages. While one message is handled, the later ones can be
/// inspected: they may cancel it.
class Inbox {
public:
  /// Reads \p In until its end, or until the notification `exit`.
  explicit Inbox(std::FILE *In);
  ~Inbox() { Reader.join(); }
  Inbox(const Inbox &) = delete;
  Inbox &operator=(const Inbox &) = delete;

  /// Waits for the next message; nothing at the end.
  std::optional<std::string> next();
  bool isEmpty();
  /// Returns whether a message that waits cancels the request \p Message.
  bool isCancelled(llvm::StringRef Message);

private:
  void read(std::FILE *In);

  std::mutex Lock; ///< of what follows
  std::deque<std::string> Waiting;
  bool IsAtEnd = false;
  std::condition_variable HasCome;
  std::thread Reader;
};

} // namespace foretrace::lsp
