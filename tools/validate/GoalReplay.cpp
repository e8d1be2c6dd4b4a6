// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/GoalReplay.h"
#include "lang/diagnostics/Validate.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <deque>

using namespace llvm;

namespace foretrace::validate {

ArrayRef<GoalEdge> GoalRank::after(uint32_t On) const {
  const auto [First, Last] = std::equal_range(
      Edges.begin(), Edges.end(), GoalEdge{On},
      [](const GoalEdge &A, const GoalEdge &B) { return A.On < B.On; });
  return ArrayRef(Edges).slice(First - Edges.begin(), Last - First);
}

namespace {

struct RankOp {
  uint32_t Rank = 0, Op = 0;
};

class GoalReplay {
public:
  GoalReplay(ArrayRef<GoalRank> Ranks, bool IsEager)
      : Ranks(Ranks), IsEager(IsEager), States(Ranks.size()) {}

  /// How many operations do not end.
  uint64_t run();
  /// Who waits for whom, and where the first does.
  std::string explain(int64_t &Line) const;
  /// Reports messages that nobody receives, or as many bytes as are not sent.
  void reportMessages(StringRef Path, Findings &Out) const;

private:
  /// Who sends, and with which tag.
  using Key = std::pair<uint32_t, uint32_t>;
  struct State {
    std::vector<uint32_t> Waits;           ///< by operation
    BitVector InFlight;                    ///< begun and not ended
    std::multimap<Key, RankOp> Arrived;    ///< sends nobody has received
    std::multimap<Key, uint32_t> Receives; ///< that wait for a message
  };

  const GoalOp &op(RankOp S) const { return Ranks[S.Rank].Ops[S.Op]; }
  void begin(RankOp S);
  void end(RankOp S);
  void release(RankOp S, bool IsStart);
  void send(RankOp S);
  void receive(RankOp S);
  void meet(RankOp Send, RankOp Receive);

  ArrayRef<GoalRank> Ranks;
  const bool IsEager;
  std::vector<State> States;
  std::deque<RankOp> Ready;
  std::vector<std::pair<RankOp, RankOp>> Unequal; ///< a send and its receive
};

void GoalReplay::release(RankOp S, bool IsStart) {
  for (const GoalEdge &E : Ranks[S.Rank].after(S.Op))
    if (E.IsStart == IsStart && --States[S.Rank].Waits[E.Op] == 0)
      Ready.push_back({S.Rank, E.Op});
}

void GoalReplay::end(RankOp S) {
  States[S.Rank].InFlight.reset(S.Op);
  release(S, false);
}

void GoalReplay::meet(RankOp Send, RankOp Receive) {
  if (op(Send).Amount != op(Receive).Amount)
    Unequal.push_back({Send, Receive});
  if (!IsEager)
    end(Send);
  end(Receive);
}

void GoalReplay::send(RankOp S) {
  const GoalOp &Op = op(S);
  auto &Receives = States[Op.Peer].Receives;
  if (IsEager)
    end(S);
  // Of several the first one that waits.
  if (const auto First = Receives.lower_bound(Key(S.Rank, Op.Tag));
      First != Receives.end() && First->first == Key(S.Rank, Op.Tag)) {
    const RankOp Receive{Op.Peer, First->second};
    Receives.erase(First);
    return meet(S, Receive);
  }
  States[Op.Peer].Arrived.insert({{S.Rank, Op.Tag}, S});
}

void GoalReplay::receive(RankOp S) {
  const GoalOp &Op = op(S);
  const Key K(Op.Peer, Op.Tag);
  auto &Arrived = States[S.Rank].Arrived;
  const auto First = Arrived.lower_bound(K);
  if (First == Arrived.end() || First->first != K) {
    States[S.Rank].Receives.insert({K, S.Op});
    return;
  }
  const RankOp Send = First->second;
  Arrived.erase(First);
  meet(Send, S);
}

void GoalReplay::begin(RankOp S) {
  States[S.Rank].InFlight.set(S.Op);
  release(S, true);
  if (op(S).Is == GoalStatement::Kind::Send)
    send(S);
  else if (op(S).Is == GoalStatement::Kind::Recv)
    receive(S);
  else
    end(S);
}

uint64_t GoalReplay::run() {
  uint64_t Left = 0;
  for (uint32_t Rank = 0; Rank != Ranks.size(); ++Rank) {
    const GoalRank &R = Ranks[Rank];
    State &S = States[Rank];
    S.Waits.resize(R.Ops.size());
    S.InFlight.resize(static_cast<unsigned>(R.Ops.size()));
    for (const GoalEdge &E : R.Edges)
      ++S.Waits[E.Op];
    for (uint32_t Op = 0; Op != R.Ops.size(); ++Op)
      if (S.Waits[Op] == 0)
        Ready.push_back({Rank, Op});
    Left += R.Ops.size();
  }
  for (; !Ready.empty(); --Left) {
    const RankOp S = Ready.front();
    Ready.pop_front();
    begin(S);
  }
  // Those that have begun and wait.
  for (const State &S : States)
    Left += S.InFlight.count();
  return Left;
}

/// Goes from the first rank that waits to the one it waits for, and so on.
std::string GoalReplay::explain(int64_t &Line) const {
  constexpr size_t MostShown = 4;
  std::vector<std::string> Shown;
  std::vector<bool> IsSeen(Ranks.size());
  uint32_t Rank = 0;
  while (Rank != Ranks.size() && States[Rank].InFlight.none())
    ++Rank;
  while (Rank < Ranks.size() && !IsSeen[Rank]) {
    const int Op = States[Rank].InFlight.find_first();
    if (Op < 0) {
      Shown.push_back(formatv("rank {0} has nothing to begin", Rank));
      break;
    }
    if (Shown.size() == MostShown) {
      Shown.push_back("...");
      break;
    }
    const GoalOp &Blocked = Ranks[Rank].Ops[Op];
    if (Shown.empty())
      Line = Blocked.Line;
    Shown.push_back(formatv("rank {0} waits for rank {1} in line {2}", Rank,
                            Blocked.Peer, Blocked.Line));
    IsSeen[Rank] = true;
    Rank = Blocked.Peer;
  }
  return join(Shown, "; ");
}

void GoalReplay::reportMessages(StringRef Path, Findings &Out) const {
  for (const auto &[Send, Receive] : Unequal)
    Out.report({Path.str(), op(Send).Line, {}}, diag::GoalMessageSize,
               Send.Rank, op(Send).Amount, op(Send).Tag, Receive.Rank,
               op(Receive).Amount);
  for (const State &S : States)
    for (const auto &[K, Send] : S.Arrived)
      Out.report({Path.str(), op(Send).Line, {}}, diag::GoalSendUnmatched,
                 op(Send).Peer, op(Send).Tag, Send.Rank);
}

} // namespace

void replayGoal(ArrayRef<GoalRank> Ranks, StringRef Path, Findings &Out) {
  GoalReplay Patient(Ranks, /*IsEager=*/false), Eager(Ranks, /*IsEager=*/true);
  const uint64_t Undone = Patient.run();
  if (Undone == 0)
    return Patient.reportMessages(Path, Out);
  Place At{Path.str(), 0, {}};
  if (const uint64_t Lost = Eager.run()) {
    const std::string Why = Eager.explain(At.Line);
    Out.report(At, diag::GoalDeadlock, Lost, Why);
    return;
  }
  Eager.reportMessages(Path, Out);
  if (Out.hasErrors())
    return;
  const std::string Why = Patient.explain(At.Line);
  Out.report(At, diag::GoalRendezvous, Undone, Why);
}

} // namespace foretrace::validate
