// SPDX-License-Identifier: Apache-2.0
//
// Collectives as messages between two ranks, for formats without collectives.
// ir/ranks/Algorithms.def lists the algorithms.
#pragma once

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
/// Returns the algorithms of a kind of collective, the default first; none for
/// a ring, which consists of messages.
llvm::ArrayRef<Algorithm> algorithmsOf(OpKind Collective);

/// Maximum size of a message: simulators count bytes in 32 bits.
inline constexpr int64_t MaxMessageBytes = (int64_t(1) << 31) - 1;

/// Bytes [Begin, Begin + Size) of the buffer of a collective.
struct ByteRange {
  int64_t Begin = 0, Size = 0;

  bool intersects(const ByteRange &O) const {
    return Begin < O.Begin + O.Size && O.Begin < Begin + Size;
  }
};

/// Returns part \p I of \p Total bytes in \p Parts parts. All have Total /
/// Parts bytes, and the first Total % Parts of them one more.
ByteRange partOf(int64_t Total, int64_t Parts, int64_t I);

/// A message of a collective, from the view of one member of the group.
struct GroupMessage {
  int64_t Peer; ///< position in the group
  bool IsSend;
  /// For a receive: the data is added to the buffer.
  bool IsReduced;
  int64_t Round; ///< from 0; messages of a round may be in flight together
  /// The bytes of the sender's buffer, which contains its input and received
  /// data. Never empty.
  ByteRange Bytes;
  /// A tag from 0, equal at both ends, and unique among the messages of the
  /// collective between the two ranks.
  int64_t Tag;
  /// Indices of the messages that must end before this one begins.
  llvm::SmallVector<int32_t, 2> After;
};

/// The messages of a group member in a collective.
struct GroupMessages {
  std::vector<GroupMessage> Messages; ///< round by round, receives first
  /// An upper bound of the tags, equal for all members.
  int64_t Tags = 0;
  /// Indices of the messages that end the collective. All earlier sends have
  /// left then.
  llvm::SmallVector<int32_t, 4> Last;
};

/// Returns the messages of the member at \p Position of \p Ranks in a
/// collective of \p Size bytes, as defined by `messageBytes`. Messages of more
/// than \p Chunk bytes, at most MaxMessageBytes, are split.
GroupMessages lowerCollective(const Algorithm &By, Bytes Size, int64_t Ranks,
                              int64_t Position, int64_t Chunk);

/// Returns a message to or from one other rank, in chunks.
GroupMessages lowerMessage(bool IsSend, Bytes Size, int64_t Chunk);

} // namespace foretrace::ir
