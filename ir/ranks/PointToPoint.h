// SPDX-License-Identifier: Apache-2.0
//
// Collectives as messages between two ranks each, for formats that have no
// collectives. ir/ranks/Algorithms.def lists how.
#ifndef FORETRACE_IR_RANKS_POINTTOPOINT_H
#define FORETRACE_IR_RANKS_POINTTOPOINT_H

#include "ir/model/Ops.h"
#include "lang/Quantity.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <vector>

namespace foretrace::ir {

class MessagePlan;

/// A row of ir/ranks/Algorithms.def.
struct Algorithm {
  enum class Groups : unsigned char { Any, PowersOfTwo };
  enum class Traits : unsigned char { Forwards, Independent, Stepwise };

  OpKind Kind;
  llvm::StringLiteral Name;
  void (*Build)(MessagePlan &);
  Groups Of;
  Traits Has;

  bool takes(int64_t Ranks) const;
};
llvm::ArrayRef<Algorithm> allAlgorithms();
/// Those of a kind of collective, the usual one first; none of a ring, which is
/// messages from the start.
llvm::ArrayRef<Algorithm> algorithmsOf(OpKind Collective);

/// A message has as many bytes at most: simulators count them in 32 bits.
inline constexpr int64_t MaxMessageBytes = (int64_t(1) << 31) - 1;

/// Bytes [Begin, Begin + Size) of what a collective is about.
struct ByteRange {
  int64_t Begin = 0, Size = 0;

  bool intersects(const ByteRange &O) const {
    return Begin < O.Begin + O.Size && O.Begin < Begin + Size;
  }
};

/// Part \p I of \p Total bytes in \p Parts parts: all have Total / Parts bytes,
/// and the first Total % Parts of them one more.
ByteRange partOf(int64_t Total, int64_t Parts, int64_t I);

/// A message of a collective, as a member of the group sees it.
struct GroupMessage {
  int64_t Peer; ///< position in the group
  bool IsSend;
  /// Of what is received: it is added to what is there.
  bool IsReduced;
  int64_t Round; ///< from 0; those of a round may be under way at once
  /// Which bytes of the sender's buffer: its input, and what it received. Never
  /// empty.
  ByteRange Bytes;
  /// From 0: the same at both ends, and of no other message of the collective
  /// between the two.
  int64_t Tag;
  /// Indices of the messages that are done before this one begins.
  llvm::SmallVector<int32_t, 2> After;
};

/// What a member of a group does in a collective.
struct GroupMessages {
  std::vector<GroupMessage> Messages; ///< round by round, receives first
  /// Tags are less; all members say the same.
  int64_t Tags = 0;
  /// Indices of those with which the collective is over. What was sent before
  /// has left then.
  llvm::SmallVector<int32_t, 4> Last;
};

/// What the member at \p Position of \p Ranks does in a collective of \p Size
/// bytes, as `messageBytes` says them. Messages of more than \p Chunk bytes, at
/// most MaxMessageBytes, are sent as several.
GroupMessages lowerCollective(const Algorithm &By, Bytes Size, int64_t Ranks,
                              int64_t Position, int64_t Chunk);

/// A message to, or from, one other rank, in chunks.
GroupMessages lowerMessage(bool IsSend, Bytes Size, int64_t Chunk);

} // namespace foretrace::ir

#endif
