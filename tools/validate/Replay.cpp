// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/Replay.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace foretrace::validate {

ReplayRules::~ReplayRules() = default;

Replay::Replay(const ReplayRules &Rules) : Rules(Rules), Ranks(Rules.ranks()) {}

uint64_t communicationTime(uint64_t Bytes) {
  constexpr uint64_t LatencyNs = 1000, BytesOfNs = 50;
  return LatencyNs + Bytes / BytesOfNs;
}

void Replay::enqueue(RankOp S, uint64_t Ns) {
  Events.push({SaturatingAdd(Now, Ns), NumEvents++, S});
}

void Replay::makeReady(RankOp S) {
  if (Rules.isTimed())
    Ranks[S.Rank].Ready[static_cast<size_t>(Rules.slot(S))].push(S.Op);
  else
    enqueue(S, 0);
}

/// Begins operations that are ready and whose slot is free.
void Replay::fillSlots(uint32_t Rank) {
  RankState &R = Ranks[Rank];
  for (size_t S = 0; S != R.Ready.size(); ++S) {
    ReadyQueue &Ready = R.Ready[S];
    const bool NeedsSlot = S != static_cast<size_t>(OperationSlot::None);
    while (!Ready.empty() && !(NeedsSlot && R.InFlight[S])) {
      const uint32_t Op = Ready.top();
      Ready.pop();
      if (NeedsSlot)
        R.InFlight[S] = Op;
      begin({Rank, Op});
    }
  }
}

void Replay::release(RankOp S, bool IsStart) {
  Rules.forEachAfter(S, IsStart, [&](uint32_t Next) {
    if (--Ranks[S.Rank].Waits[Next] == 0)
      makeReady({S.Rank, Next});
  });
}

void Replay::endAfter(RankOp S, uint64_t Ns) {
  if (Rules.isTimed())
    enqueue(S, Ns);
  else
    end(S);
}

void Replay::begin(RankOp S) {
  release(S, /*IsStart=*/true);
  const ReplayOp Op = Rules.op(S);
  switch (Op.Is) {
  case ReplayKind::Local:
    return endAfter(S, Op.Amount);
  case ReplayKind::Send:
    return Rules.doSendsWait() ? deliver(S)
                               : endAfter(S, communicationTime(Op.Amount));
  case ReplayKind::Recv:
    return receive(S);
  case ReplayKind::Collective:
    return meet(S);
  }
}

void Replay::end(RankOp S) {
  ++Done;
  RankState &R = Ranks[S.Rank];
  if (const OperationSlot Freed = Rules.slot(S); Freed != OperationSlot::None)
    R.InFlight[static_cast<size_t>(Freed)].reset();
  release(S, /*IsStart=*/false);
  fillSlots(S.Rank);
  if (Rules.op(S).Is == ReplayKind::Send && !Rules.doSendsWait())
    deliver(S);
}

void Replay::meet(RankOp S) {
  const ReplayOp Op = Rules.op(S);
  const auto Key = std::make_pair(Op.Peer, Ranks[S.Rank].Begun[Op.Peer]++);
  std::vector<RankOp> &Come = Meetings[Key];
  Come.push_back(S);
  if (Come.size() != Rules.members(Op.Peer).size())
    return;
  const bool AreAlike = all_of(Come, [&](RankOp Other) {
    const ReplayOp O = Rules.op(Other);
    return O.Type == Op.Type && O.Amount == Op.Amount;
  });
  if (!AreAlike)
    return;
  for (RankOp Member : Come)
    endAfter(Member, communicationTime(Op.Amount));
  Meetings.erase(Key);
}

/// The message as both ends know it.
Message Replay::messageOf(RankOp S) const {
  const ReplayOp Op = Rules.op(S);
  const bool IsSend = Op.Is == ReplayKind::Send;
  return {IsSend ? S.Rank : Op.Peer, IsSend ? Op.Peer : S.Rank, Op.Tag,
          Rules.doSizesMatch() ? Op.Amount : 0};
}

void Replay::pair(RankOp Send, RankOp Receive) {
  if (Rules.op(Send).Amount != Rules.op(Receive).Amount)
    Unequal.push_back({Send, Receive});
  if (Rules.doSendsWait())
    end(Send);
  endAfter(Receive, 0);
}

void Replay::receive(RankOp S) {
  const Message M = messageOf(S);
  const auto Send = Sent.lower_bound(M);
  if (Send == Sent.end() || M < Send->first) {
    Awaited.insert({M, S});
    return;
  }
  const RankOp First = Send->second;
  Sent.erase(Send);
  pair(First, S);
}

void Replay::deliver(RankOp S) {
  const Message M = messageOf(S);
  const auto Receive = Awaited.lower_bound(M);
  if (Receive == Awaited.end() || M < Receive->first) {
    Sent.insert({M, S});
    return;
  }
  const RankOp First = Receive->second;
  Awaited.erase(Receive);
  pair(S, First);
}

/// Returns the operation that blocks each rank: the communication in its slot,
/// or else the first message that lacks its other end.
std::vector<std::optional<RankOp>> Replay::blocked() const {
  std::vector<std::optional<RankOp>> Of(Ranks.size());
  const auto Add = [&](const Messages &Open) {
    for (const auto &[M, S] : Open)
      if (!Of[S.Rank] || S.Op < Of[S.Rank]->Op)
        Of[S.Rank] = S;
  };
  Add(Awaited);
  if (Rules.doSendsWait())
    Add(Sent);
  for (uint32_t Rank = 0; Rank != Ranks.size(); ++Rank)
    if (const auto &Op =
            Ranks[Rank]
                .InFlight[static_cast<size_t>(OperationSlot::Communication)])
      Of[Rank] = RankOp{Rank, *Op};
  return Of;
}

uint32_t Replay::waitsFor(RankOp Blocked) const {
  const ReplayOp Op = Rules.op(Blocked);
  if (Op.Is != ReplayKind::Collective)
    return Op.Peer;
  // Its own last meeting: the first member that is not there, or any if all are
  // there and differ.
  const uint64_t Turn = Ranks[Blocked.Rank].Begun.lookup(Op.Peer) - 1;
  const auto Met = Meetings.find({Op.Peer, Turn});
  for (uint32_t Member : Rules.members(Op.Peer))
    if (Member != Blocked.Rank &&
        (Met == Meetings.end() ||
         none_of(Met->second, [&](RankOp S) { return S.Rank == Member; })))
      return Member;
  for (RankOp S : Met->second)
    if (const ReplayOp O = Rules.op(S);
        O.Type != Op.Type || O.Amount != Op.Amount)
      return S.Rank;
  return Blocked.Rank;
}

std::string Replay::explain(RankOp &First) const {
  constexpr size_t MostShown = 4;
  const std::vector<std::optional<RankOp>> Blocked = blocked();
  std::vector<std::string> Shown;
  std::vector<bool> IsSeen(Ranks.size());
  auto Rank = static_cast<uint32_t>(
      find_if(Blocked, [](const auto &S) { return S.has_value(); }) -
      Blocked.begin());
  while (Rank != Ranks.size() && !IsSeen[Rank]) {
    const std::optional<RankOp> S = Blocked[Rank];
    if (!S || Shown.size() == MostShown) {
      Shown.push_back(S ? "..."
                        : formatv("rank {0} has nothing to {1}", Rank,
                                  Rules.isTimed() ? "issue" : "begin")
                              .str());
      break;
    }
    if (Shown.empty())
      First = *S;
    IsSeen[Rank] = true;
    const uint32_t Other = waitsFor(*S);
    Shown.push_back(formatv("rank {0} waits for rank {1} in {2}", Rank, Other,
                            Rules.describe(*S)));
    Rank = Other;
  }
  return join(Shown, "; ");
}

uint64_t Replay::run() {
  for (uint32_t Rank = 0; Rank != Ranks.size(); ++Rank) {
    std::vector<uint32_t> &Waits = Ranks[Rank].Waits;
    Waits = Rules.waits(Rank);
    Count += Waits.size();
    for (uint32_t Op = 0; Op != Waits.size(); ++Op)
      if (Waits[Op] == 0)
        makeReady({Rank, Op});
  }
  for (uint32_t Rank = 0; Rank != Ranks.size(); ++Rank)
    fillSlots(Rank);
  while (!Events.empty()) {
    const Event E = Events.top();
    Events.pop();
    Now = E.Time;
    Rules.isTimed() ? end(E.What) : begin(E.What);
  }
  return Count - Done;
}

} // namespace foretrace::validate
