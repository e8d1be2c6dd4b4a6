// SPDX-License-Identifier: Apache-2.0
//
// Messages that have come and wait, read by a thread of its own.
#ifndef FORETRACE_TOOLS_LSP_INBOX_H
#define FORETRACE_TOOLS_LSP_INBOX_H

#include "llvm/ADT/StringRef.h"
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace foretrace::lsp {

/// What has been read stays readable without waiting, so that who works on one
/// message can see whether a later one makes it needless.
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
  /// Whether a message that waits cancels the request \p Message.
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

#endif
