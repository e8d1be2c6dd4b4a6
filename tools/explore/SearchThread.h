// SPDX-License-Identifier: Apache-2.0
//
// One thread beside the server's, for requests that take long: moves are
// answered meanwhile.
#pragma once

#include "tools/explore/HttpReply.h"
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace foretrace::explore {

/// Makes one reply at a time. A search that begins cancels the one before,
/// whose answer nobody waits for any longer.
class SearchThread {
public:
  /// Calls \p Wake, on its own thread, when there is something to deliver.
  explicit SearchThread(std::function<void()> Wake);
  /// Cancels what there is; nothing of it is delivered.
  ~SearchThread();
  SearchThread(const SearchThread &) = delete;
  SearchThread &operator=(const SearchThread &) = delete;

  using Receiver = std::function<void(const HttpReply &)>;
  /// Makes \p Reply, for \p Then.
  void begin(SlowReply Reply, Receiver Then);
  /// Hands replies that are made to those who wait for them.
  void deliver();

private:
  struct Search {
    SlowReply Reply;
    Receiver Then;
  };

  void run();
  void end(Search Of, HttpReply With);

  const std::function<void()> Wake;
  std::mutex Guard; ///< of what follows
  std::condition_variable HasChanged;
  std::optional<Search> Next;
  CancelFlag Current; ///< of the search that runs; null if none does
  std::vector<std::pair<Receiver, HttpReply>> Made;
  bool IsOver = false;
  std::thread Thread; ///< the last member: it uses the others
};

} // namespace foretrace::explore
