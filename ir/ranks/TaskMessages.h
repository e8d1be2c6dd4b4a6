// SPDX-License-Identifier: Apache-2.0
//
// What the tasks of a rank that communicate send and receive: collectives
// lowered, ranks for positions in groups, and tags.
#ifndef FORETRACE_IR_RANKS_TASKMESSAGES_H
#define FORETRACE_IR_RANKS_TASKMESSAGES_H

#include "ir/model/Ranks.h"
#include "ir/ranks/PointToPoint.h"
#include "ir/ranks/StageTasks.h"
#include "llvm/ADT/DenseMap.h"

namespace foretrace::ir {

/// Whether a task that sends is over once it has begun: the schedule goes on
/// before the message has met its receiver, who may wait for something later.
bool isLeftAlone(const Program &P, const Task &T);

/// How collectives are lowered.
struct MessageRules {
  MessageRules();

  /// Collectives are cut into messages of at most so many bytes.
  int64_t Chunk = MaxMessageBytes;
  /// By kind of collective; null of what has none.
  llvm::SmallDenseMap<OpKind, const Algorithm *> Algorithms;
};

/// The messages of a task of a rank.
struct TaskMessages {
  const GroupMessages &Of;
  llvm::ArrayRef<int64_t> Ranks; ///< by position in the group
  int64_t Channel, Channels, FirstTag, Tags;

  int64_t peer(const GroupMessage &M) const {
    return Ranks[static_cast<size_t>(M.Peer)];
  }
  int64_t tag(const GroupMessage &M) const {
    return (FirstTag + M.Tag) % (Tags / Channels) * Channels + Channel;
  }
};

/// Lowers the tasks of one rank, all of them, in order. Members of a group do
/// the same in it (verified), and so count the same tags.
///
/// A tag is of one message between two ranks: each kind of group has tags of
/// its own, and so have messages between stages. Only when all are used up do
/// they begin again; then the old message is long gone, and messages between
/// two ranks do not overtake each other anyway.
class RankMessages {
public:
  /// Tags are less than \p Tags.
  RankMessages(const Program &P, const RankMap &Map, int64_t Rank,
               const MessageRules &Rules, int64_t Tags);

  /// What \p T, which communicates, sends and receives. Stays until the next
  /// task.
  TaskMessages lower(const Task &T);

private:
  /// Ranks that communicate, and the tags they have used.
  struct Channel {
    Group Of;
    std::vector<int64_t> Ranks;
    int64_t Position = 0;
    int64_t Sent = 0, Received = 0;
  };

  TaskMessages collective(const Task &T);
  TaskMessages message(const Task &T);
  TaskMessages made(const GroupMessages &Of, llvm::ArrayRef<int64_t> Ranks,
                    size_t At, int64_t FirstTag) const;
  size_t channelOf(const Group &G) const;

  const RankMap &Map;
  const int64_t Rank;
  const MessageRules &Rules;
  const int64_t Tags;
  std::vector<Channel> Channels; ///< by kind of group; the first: of stages
  int64_t StageChunks = 1;       ///< of a message between stages, at most
  int64_t Peer = 0;
  GroupMessages Single; ///< of the last task, if that is one message
  /// Layers are alike, and so are micro-batches.
  llvm::DenseMap<const Op *, GroupMessages> Lowered;
};

} // namespace foretrace::ir

#endif
