// SPDX-License-Identifier: Apache-2.0
//
// Messages of the communication tasks of a rank: lowered collectives, ranks for
// positions in groups, and tags.
#pragma once

#include "ir/model/Ranks.h"
#include "ir/ranks/PointToPoint.h"
#include "ir/ranks/StageTasks.h"
#include "llvm/ADT/DenseMap.h"

namespace foretrace::ir {

/// Returns whether a sending task ends when it has begun: the schedule
/// continues before the message has reached its receiver, who may wait for a
/// later event.
bool isLeftAlone(const Program &P, const Task &T);

/// How collectives are lowered.
struct MessageRules {
  MessageRules();

  /// Maximum size of the messages of a collective, in bytes.
  int64_t Chunk = MaxMessageBytes;
  /// By kind of collective; null if it has no algorithm.
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

/// Lowers all tasks of one rank, in order. Members of a group execute the same
/// tasks in it (verified), so they assign the same tags.
///
/// A tag belongs to one message between two ranks. Each kind of group has its
/// own tags, and so have messages between stages. Tags are reused only when all
/// have been used. The old message has ended then, and messages between two
/// ranks do not overtake each other.
class RankMessages {
public:
  /// \p Tags is an upper bound of the tags.
  RankMessages(const Program &P, const RankMap &Map, int64_t Rank,
               const MessageRules &Rules, int64_t Tags);

  /// Returns the messages of the communication task \p T, valid until the next
  /// task.
  TaskMessages lower(const Task &T);

private:
  /// Ranks that communicate, and the number of tags they have used.
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
  std::vector<Channel> Channels; ///< by kind of group; the first is for stages
  int64_t StageChunks = 1;       ///< maximum per message between stages
  int64_t Peer = 0;
  GroupMessages Single; ///< of the last task, if it is one message
  /// By op and size: layers are alike, and so are micro-batches.
  llvm::DenseMap<std::pair<const Op *, int64_t>, GroupMessages> Lowered;
};

} // namespace foretrace::ir
