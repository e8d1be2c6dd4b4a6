// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/Replay.h"
#include "tools/validate/Messages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <deque>
#include <queue>

using namespace llvm;

namespace foretrace::validate {

namespace {

/// A node of a rank.
struct RankNode {
  uint32_t Rank = 0, Op = 0;
};

/// What is in flight of which a rank has one at a time.
enum class Slot : unsigned char { Cpu, Compute, Communication, None };

/// Nodes that wait for nothing and for no other rank, the lowest id first.
using ReadyQueue =
    std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>>;

struct RankState {
  std::vector<uint32_t> Left;      ///< how many others each node waits for
  std::array<ReadyQueue, 4> Ready; ///< by slot
  std::array<std::optional<uint32_t>, 3> InFlight; ///< by slot
  DenseMap<uint32_t, uint64_t> Issued;             ///< collectives, by group
};

/// A collective that some members have issued.
struct Meeting {
  std::vector<RankNode> Arrived;
};

class Replay {
public:
  Replay(ArrayRef<std::unique_ptr<const ChakraGraph>> Graphs,
         const ChakraGroups &Groups)
      : Graphs(Graphs), Groups(Groups), Ranks(Graphs.size()) {}

  ReplayResult run();

private:
  struct Event {
    uint64_t Time, Order;
    RankNode What;
    bool operator>(const Event &O) const {
      return std::tie(Time, Order) > std::tie(O.Time, O.Order);
    }
  };

  const ChakraOp &op(RankNode S) const { return Graphs[S.Rank]->ops()[S.Op]; }
  static Slot slotOf(const ChakraOp &Op);
  void start(uint32_t Rank);
  void issueReady(uint32_t Rank);
  void issue(RankNode S);
  void meet(RankNode S);
  void receive(RankNode S);
  void deliver(RankNode Send);
  void endAfter(RankNode S, uint64_t Ns);
  void end(RankNode S);

  Message messageOf(RankNode S) const;
  /// The same for both ends; not one that a map keeps for itself.
  uint64_t keyOf(RankNode S) const { return hashOf(messageOf(S)) >> 1; }
  /// The node that keeps \p Rank from going on, if there is one.
  std::optional<RankNode> blockedAt(uint32_t Rank) const;
  void findReceives();
  uint32_t waitsFor(RankNode Blocked) const;
  std::string describe(RankNode Blocked) const;
  void explain(ReplayResult &R);

  ArrayRef<std::unique_ptr<const ChakraGraph>> Graphs;
  const ChakraGroups &Groups;
  std::vector<RankState> Ranks;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> Events;
  std::map<std::pair<uint32_t, uint64_t>, Meeting> Meetings;
  DenseMap<uint64_t, uint64_t> Arrived; ///< messages nobody has received
  DenseMap<uint64_t, std::deque<RankNode>> Waiting; ///< receives, in order
  /// Of a rank the first that nobody has sent to; once all stands still.
  DenseMap<uint32_t, uint32_t> FirstReceive;
  uint64_t Now = 0, NumEvents = 0, Done = 0;
};

/// The time of a communication that does not wait. Any will do, as long as more
/// bytes take more.
uint64_t timeOf(uint64_t Bytes) {
  constexpr uint64_t LatencyNs = 1000, BytesOfNs = 50;
  return LatencyNs + Bytes / BytesOfNs;
}

Slot Replay::slotOf(const ChakraOp &Op) {
  if (Op.IsCpu)
    return Slot::Cpu;
  if (Op.Type == NodeType::Comp)
    return Slot::Compute;
  return Op.Type == NodeType::Recv ? Slot::None : Slot::Communication;
}

void Replay::start(uint32_t Rank) {
  const ChakraGraph &G = *Graphs[Rank];
  RankState &R = Ranks[Rank];
  R.Left.resize(G.ops().size());
  for (uint32_t I = 0; I != R.Left.size(); ++I) {
    R.Left[I] = G.waitsFor(I);
    if (R.Left[I] == 0)
      R.Ready[static_cast<size_t>(slotOf(G.ops()[I]))].push(I);
  }
}

void Replay::issueReady(uint32_t Rank) {
  RankState &R = Ranks[Rank];
  for (size_t S = 0; S != R.Ready.size(); ++S) {
    ReadyQueue &Ready = R.Ready[S];
    const bool NeedsSlot = S != static_cast<size_t>(Slot::None);
    while (!Ready.empty() && !(NeedsSlot && R.InFlight[S])) {
      const uint32_t Op = Ready.top();
      Ready.pop();
      if (NeedsSlot)
        R.InFlight[S] = Op;
      issue({Rank, Op});
    }
  }
}

void Replay::endAfter(RankNode S, uint64_t Ns) {
  Events.push({SaturatingAdd(Now, Ns), NumEvents++, S});
}

void Replay::issue(RankNode S) {
  const ChakraOp &Op = op(S);
  if (Op.Type == NodeType::Recv)
    return receive(S);
  if (Op.Type == NodeType::Coll && Op.Comm != CommType::Broadcast)
    return meet(S);
  const bool IsCommunication =
      Op.Type == NodeType::Send || Op.Type == NodeType::Coll;
  endAfter(S, IsCommunication ? timeOf(Op.Amount) : Op.Amount);
}

void Replay::meet(RankNode S) {
  const ChakraOp &Op = op(S);
  const auto Key =
      std::make_pair(Op.Partner, Ranks[S.Rank].Issued[Op.Partner]++);
  Meeting &M = Meetings[Key];
  M.Arrived.push_back(S);
  if (M.Arrived.size() != Groups.all()[Op.Partner].Members.size())
    return;
  // Those that differ never end.
  const ChakraOp &First = op(M.Arrived.front());
  if (!all_of(M.Arrived, [&](RankNode Other) {
        return op(Other).Comm == First.Comm && op(Other).Amount == First.Amount;
      }))
    return;
  for (RankNode Member : M.Arrived)
    endAfter(Member, timeOf(Op.Amount));
  Meetings.erase(Key);
}

Message Replay::messageOf(RankNode S) const {
  const ChakraOp &Op = op(S);
  const bool IsSend = Op.Type == NodeType::Send;
  return {IsSend ? S.Rank : Op.Partner, IsSend ? Op.Partner : S.Rank, Op.Tag,
          Op.Amount};
}

void Replay::receive(RankNode S) {
  const uint64_t Key = keyOf(S);
  if (const auto Here = Arrived.find(Key); Here != Arrived.end()) {
    if (--Here->second == 0)
      Arrived.erase(Here);
    return endAfter(S, 0);
  }
  Waiting[Key].push_back(S);
}

void Replay::deliver(RankNode Send) {
  const uint64_t Key = keyOf(Send);
  const auto Receives = Waiting.find(Key);
  if (Receives == Waiting.end()) {
    ++Arrived[Key];
    return;
  }
  const RankNode First = Receives->second.front();
  Receives->second.pop_front();
  if (Receives->second.empty())
    Waiting.erase(Receives);
  endAfter(First, 0);
}

void Replay::end(RankNode S) {
  ++Done;
  const ChakraOp &Op = op(S);
  RankState &R = Ranks[S.Rank];
  if (const Slot Freed = slotOf(Op); Freed != Slot::None)
    R.InFlight[static_cast<size_t>(Freed)].reset();
  for (uint32_t Next : Graphs[S.Rank]->dependents(S.Op))
    if (--R.Left[Next] == 0)
      R.Ready[static_cast<size_t>(slotOf(Graphs[S.Rank]->ops()[Next]))].push(
          Next);
  issueReady(S.Rank);
  if (Op.Type == NodeType::Send)
    deliver(S);
}

void Replay::findReceives() {
  for (const auto &Entry : Waiting)
    for (RankNode S : Entry.second) {
      uint32_t &First = FirstReceive.try_emplace(S.Rank, S.Op).first->second;
      First = std::min(First, S.Op);
    }
}

std::optional<RankNode> Replay::blockedAt(uint32_t Rank) const {
  const RankState &R = Ranks[Rank];
  if (const auto &Op = R.InFlight[static_cast<size_t>(Slot::Communication)])
    return RankNode{Rank, *Op};
  const auto First = FirstReceive.find(Rank);
  if (First == FirstReceive.end())
    return std::nullopt;
  return RankNode{Rank, First->second};
}

uint32_t Replay::waitsFor(RankNode Blocked) const {
  const ChakraOp &Op = op(Blocked);
  if (Op.Type == NodeType::Recv)
    return Op.Partner;
  // Its own last meeting: the first member that is not there, or any if all are
  // there and differ.
  const uint64_t Turn = Ranks[Blocked.Rank].Issued.lookup(Op.Partner) - 1;
  const auto Met = Meetings.find({Op.Partner, Turn});
  for (uint32_t Member : Groups.all()[Op.Partner].Members)
    if (Member != Blocked.Rank &&
        (Met == Meetings.end() || none_of(Met->second.Arrived, [&](RankNode S) {
           return S.Rank == Member;
         })))
      return Member;
  for (RankNode S : Met->second.Arrived)
    if (op(S).Comm != Op.Comm || op(S).Amount != Op.Amount)
      return S.Rank;
  return Blocked.Rank;
}

std::string Replay::describe(RankNode Blocked) const {
  const ChakraOp &Op = op(Blocked);
  const std::string What =
      Op.Type == NodeType::Recv
          ? formatv("a receive with tag {0}", Op.Tag).str()
          : formatv("{0} of {1}", nameOf(Op.Comm), Groups.describe(Op.Partner))
                .str();
  return formatv("rank {0} waits for rank {1} in node {2}, {3}", Blocked.Rank,
                 waitsFor(Blocked), Op.Id, What);
}

/// Goes from the first rank that is not done to the one it waits for, and so
/// on.
void Replay::explain(ReplayResult &R) {
  findReceives();
  constexpr size_t MostShown = 4;
  std::vector<std::string> Shown;
  std::vector<bool> IsSeen(Ranks.size());
  uint32_t Rank = 0;
  while (Rank != Ranks.size() && !blockedAt(Rank))
    ++Rank;
  while (Rank != Ranks.size() && !IsSeen[Rank]) {
    const std::optional<RankNode> Blocked = blockedAt(Rank);
    if (!Blocked) {
      Shown.push_back(formatv("rank {0} has nothing to issue", Rank));
      break;
    }
    if (Shown.size() == MostShown) {
      Shown.push_back("...");
      break;
    }
    if (Shown.empty()) {
      R.Rank = Rank;
      R.Node = op(*Blocked).Id;
    }
    IsSeen[Rank] = true;
    Shown.push_back(describe(*Blocked));
    Rank = waitsFor(*Blocked);
  }
  R.Why = join(Shown, "; ");
}

ReplayResult Replay::run() {
  ReplayResult R;
  for (uint32_t Rank = 0; Rank != Ranks.size(); ++Rank) {
    R.Nodes += Graphs[Rank]->ops().size();
    start(Rank);
  }
  for (uint32_t Rank = 0; Rank != Ranks.size(); ++Rank)
    issueReady(Rank);
  while (!Events.empty()) {
    const Event E = Events.top();
    Events.pop();
    Now = E.Time;
    end(E.What);
  }
  R.Undone = R.Nodes - Done;
  if (R.Undone > 0)
    explain(R);
  return R;
}

} // namespace

ReplayResult replay(ArrayRef<std::unique_ptr<const ChakraGraph>> Ranks,
                    const ChakraGroups &Groups) {
  return Replay(Ranks, Groups).run();
}

} // namespace foretrace::validate
