// SPDX-License-Identifier: Apache-2.0
//
// An engine that runs actors, such as ranks, against each other. Each actor
// executes its own calls. The parts of a call begin together, and some of them
// are meetings with other actors. The verifier, timelines and the replay of
// traces are clients of this engine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace foretrace::ir {

/// The meeting for which a part of a call waits.
struct Meeting {
  /// An id that all members of the meeting share and no other meeting has; from
  /// 0, without large gaps.
  size_t Id = 0;
  /// Number of members; 1 if there is no other member.
  int64_t Members = 1;
  /// Whether this member waits until the others have arrived. A buffered send
  /// does not.
  bool Waits = true;
  /// Time from this member's arrival until the others may regard it as arrived:
  /// that of a message that a buffered send leaves on its way.
  int64_t Delay = 0;
};

/// A client has, for the actor with an index:
///
/// * `bool begin(size_t Actor)`: goes to its next call; false at the end;
/// * `size_t parts(size_t Actor)`: of its call;
/// * `Meeting meeting(size_t Actor, size_t Part)`;
/// * `int64_t duration(size_t Actor, size_t Part)`: in the client's unit;
/// * `void end(size_t Actor, int64_t Start, int64_t End)`: of its call.
///
/// A meeting starts when its last member has arrived, and lasts as long as each
/// member specifies. Parts without a meeting are executed one after the other,
/// concurrently with the meetings of the call.
template <typename ClientT> class Rendezvous {
public:
  Rendezvous(ClientT &Client, size_t Actors) : Client(Client), All(Actors) {}

  /// Runs until every actor has ended or waits. Returns whether all have ended.
  bool run();

  /// Returns whether \p Actor waits forever; valid after `run`.
  bool isStuck(size_t Actor) const { return !All[Actor].HasEnded; }
  /// Returns whether the meeting \p Of has not taken place.
  bool isPending(const Meeting &Of) const {
    return Of.Members > 1 &&
           (Of.Id >= Meetings.size() || Meetings[Of.Id].Come < Of.Members);
  }
  /// Returns the time at which the last actor has ended.
  int64_t end() const {
    int64_t End = 0;
    for (const Actor &A : All)
      End = std::max(End, A.Clock);
    return End;
  }

private:
  static constexpr size_t None = SIZE_MAX;
  struct Actor {
    int64_t Clock = 0;
    size_t NextWaiting = None; ///< for the same meeting
    bool IsInCall = false, HasEnded = false;
  };
  struct State {
    int64_t Start = 0; ///< when the last one arrived, so far
    int64_t Come = 0;
    size_t Waiting = None; ///< an actor
  };

  void advance(size_t I);
  void enter(size_t I);
  bool leave(size_t I);

  ClientT &Client;
  std::vector<Actor> All;
  std::vector<State> Meetings;
  std::vector<size_t> Ready;
};

template <typename ClientT> bool Rendezvous<ClientT>::run() {
  for (size_t I = All.size(); I-- > 0;)
    Ready.push_back(I);
  while (!Ready.empty()) {
    const size_t I = Ready.back();
    Ready.pop_back();
    advance(I);
  }
  return std::all_of(All.begin(), All.end(),
                     [](const Actor &A) { return A.HasEnded; });
}

/// Advances an actor as far as possible.
template <typename ClientT> void Rendezvous<ClientT>::advance(size_t I) {
  Actor &A = All[I];
  while (!A.HasEnded) {
    if (!A.IsInCall) {
      A.HasEnded = !Client.begin(I);
      if (A.HasEnded)
        return;
      enter(I);
    }
    if (!leave(I))
      return;
  }
}

template <typename ClientT> void Rendezvous<ClientT>::enter(size_t I) {
  Actor &A = All[I];
  A.IsInCall = true;
  for (size_t Part = 0, Parts = Client.parts(I); Part < Parts; ++Part) {
    const Meeting M = Client.meeting(I, Part);
    if (M.Members <= 1)
      continue;
    if (M.Id >= Meetings.size())
      Meetings.resize(std::max(M.Id + 1, 2 * Meetings.size()));
    State &S = Meetings[M.Id];
    S.Start = std::max(S.Start, A.Clock + M.Delay);
    if (++S.Come < M.Members)
      continue;
    for (size_t W = S.Waiting; W != None; W = All[W].NextWaiting)
      Ready.push_back(W);
    S.Waiting = None;
  }
}

/// Ends the call of an actor, unless it waits.
template <typename ClientT> bool Rendezvous<ClientT>::leave(size_t I) {
  Actor &A = All[I];
  int64_t Alone = A.Clock, Last = A.Clock;
  for (size_t Part = 0, Parts = Client.parts(I); Part < Parts; ++Part) {
    const Meeting M = Client.meeting(I, Part);
    if (M.Members <= 1) {
      Alone += Client.duration(I, Part);
      continue;
    }
    if (!M.Waits)
      continue;
    State &S = Meetings[M.Id];
    if (S.Come < M.Members) {
      A.NextWaiting = S.Waiting;
      S.Waiting = I;
      return false;
    }
    Last =
        std::max(Last, std::max(S.Start, A.Clock) + Client.duration(I, Part));
  }
  Client.end(I, A.Clock, std::max(Alone, Last));
  A.Clock = std::max(Alone, Last);
  A.IsInCall = false;
  return true;
}

} // namespace foretrace::ir
