// SPDX-License-Identifier: Apache-2.0
#include "ir/ranks/TaskMessages.h"
#include "ir/model/Boundary.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

bool foretrace::ir::isLeftAlone(const Program &P, const Task &T) {
  const bool IsOfStage = T.Of == nullptr;
  return IsOfStage && T.Kind == TaskKind::Send &&
         P.Schedule.Transport == Transport::Eager;
}

MessageRules::MessageRules() {
  for (const Algorithm &By : allAlgorithms())
    Algorithms.try_emplace(By.Kind, &By);
}

RankMessages::RankMessages(const Program &P, const RankMap &Map, int64_t Rank,
                           const MessageRules &Rules, int64_t Tags)
    : Map(Map), Rank(Rank), Rules(Rules), Tags(Tags) {
  for (int64_t Part = 0; Part < P.Schedule.parts(); ++Part)
    for (const bool IsForward : {true, false}) {
      const Bytes Size = boundaryBytes(P, boundaryAfter(P, Part, IsForward));
      StageChunks = std::max(StageChunks, static_cast<int64_t>(llvm::divideCeil(
                                              Size.value(), MaxMessageBytes)));
    }
  Channels.emplace_back();
  for (const Block &B : P.Blocks)
    for (const Op &O : B.Ops) {
      if (!isCollective(O.Kind) ||
          llvm::any_of(Channels,
                       [&](const Channel &C) { return C.Of == O.Group; }))
        continue;
      Channel C{O.Group, O.Group.ranks(Map, Rank)};
      C.Position = llvm::find(C.Ranks, Rank) - C.Ranks.begin();
      Channels.push_back(std::move(C));
    }
}

size_t RankMessages::channelOf(const Group &G) const {
  const auto It =
      llvm::find_if(Channels, [&](const Channel &C) { return C.Of == G; });
  return static_cast<size_t>(It - Channels.begin());
}

TaskMessages RankMessages::made(const GroupMessages &Of,
                                llvm::ArrayRef<int64_t> Ranks, size_t At,
                                int64_t FirstTag) const {
  return {Of,
          Ranks,
          static_cast<int64_t>(At),
          static_cast<int64_t>(Channels.size()),
          FirstTag,
          Tags};
}

TaskMessages RankMessages::collective(const Task &T) {
  const size_t At = channelOf(T.Of->Group);
  Channel &C = Channels[At];
  assert(C.Position < static_cast<int64_t>(C.Ranks.size()) &&
         "who is not in the group has no such task");
  auto [It, IsNew] = Lowered.try_emplace({T.Of, T.Size.value()});
  if (IsNew)
    It->second = lowerCollective(*Rules.Algorithms.lookup(T.Of->Kind), T.Size,
                                 static_cast<int64_t>(C.Ranks.size()),
                                 C.Position, Rules.Chunk);
  // The later of the two: a ring's messages are counted by direction.
  const int64_t First = std::max(C.Sent, C.Received);
  C.Sent = C.Received = First + It->second.Tags;
  return made(It->second, C.Ranks, At, First);
}

TaskMessages RankMessages::message(const Task &T) {
  const bool IsSend = T.Kind == TaskKind::Send;
  const bool IsOfStage = T.Of == nullptr;
  Single =
      lowerMessage(IsSend, T.Size, IsOfStage ? MaxMessageBytes : Rules.Chunk);
  Peer = T.Peer.rank(Map, Rank);
  if (IsOfStage)
    return made(Single, Peer, 0, T.Tag * StageChunks);
  const size_t At = channelOf(T.Of->Group);
  int64_t &Used = IsSend ? Channels[At].Sent : Channels[At].Received;
  const int64_t First = Used;
  Used += Single.Tags;
  return made(Single, Peer, At, First);
}

TaskMessages RankMessages::lower(const Task &T) {
  assert(T.Kind != TaskKind::Compute);
  return T.Kind == TaskKind::Collective ? collective(T) : message(T);
}
