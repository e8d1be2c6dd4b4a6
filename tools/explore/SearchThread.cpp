// SPDX-License-Identifier: Apache-2.0
#include "tools/explore/SearchThread.h"

using namespace llvm;

namespace foretrace::explore {

SearchThread::SearchThread(std::function<void()> Wake)
    : Wake(std::move(Wake)), Thread([this] { run(); }) {}

SearchThread::~SearchThread() {
  {
    const std::lock_guard<std::mutex> Held(Guard);
    IsOver = true;
    Next.reset();
    if (Current)
      *Current = true;
  }
  HasChanged.notify_one();
  Thread.join();
}

/// Keeps \p With until it is delivered. The guard is held.
void SearchThread::end(Search Of, HttpReply With) {
  if (*Of.Reply.IsCancelled)
    With = refuse(409, "another search has begun");
  Made.emplace_back(std::move(Of.Then), std::move(With));
}

void SearchThread::begin(SlowReply Reply, Receiver Then) {
  {
    const std::lock_guard<std::mutex> Held(Guard);
    if (Current)
      *Current = true;
    if (Next) {
      *Next->Reply.IsCancelled = true;
      end(std::move(*Next), {});
    }
    Next = {std::move(Reply), std::move(Then)};
  }
  HasChanged.notify_one();
  deliver();
}

void SearchThread::deliver() {
  std::vector<std::pair<Receiver, HttpReply>> All;
  {
    const std::lock_guard<std::mutex> Held(Guard);
    All.swap(Made);
  }
  for (const auto &[Then, Reply] : All)
    Then(Reply);
}

void SearchThread::run() {
  std::unique_lock<std::mutex> Held(Guard);
  while (true) {
    HasChanged.wait(Held, [&] { return Next || IsOver; });
    if (IsOver)
      return;
    Search Of = std::move(*Next);
    Next.reset();
    Current = Of.Reply.IsCancelled;
    Held.unlock();
    HttpReply Reply = Of.Reply.Make();
    Of.Reply.Make = nullptr; // the session goes while nobody waits
    Held.lock();
    Current = nullptr;
    end(std::move(Of), std::move(Reply));
    Held.unlock();
    Wake();
    Held.lock();
  }
}

} // namespace foretrace::explore
