// SPDX-License-Identifier: Apache-2.0
//
// The messages that a collective sends one after the other, folded: buckets of
// the gradients of layers that are alike have sizes that recur.
#pragma once

#include "lang/Quantity.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace foretrace::ir {

struct Op;
struct Program;

/// A message of some of a chunk's gradients or parameters.
struct BucketMessage {
  int64_t Elements;
  /// The parameter that the forward pass uses first, whose gradient is the
  /// last: its layer, from the first one of the chunk, and its number among the
  /// parameters of the block.
  int64_t Layer, Param;
};

/// Messages of these sizes, several times over, each time for earlier layers.
struct MessagePeriod {
  int64_t Times = 1;
  int64_t Layers = 0; ///< from one time to the next
  llvm::SmallVector<BucketMessage, 2> Each;
};
/// All messages in order.
using MessageList = std::vector<MessagePeriod>;
/// Prints ` messages(2 by 1 * (40@3:2 60@2:5) + 30@0:0)`, or nothing if it is
/// empty.
llvm::raw_ostream &operator<<(llvm::raw_ostream &OS, const MessageList &L);
/// The most messages of an op.
inline constexpr int64_t MostMessages = int64_t(1) << 24;

/// Returns the number of messages, and the sum of their sizes; nothing if that
/// exceeds 2^63.
int64_t messageCount(const MessageList &L);
std::optional<int64_t> messageSum(const MessageList &L);

/// Returns all messages in order.
std::vector<BucketMessage> unfolded(const MessageList &L);

/// Returns the number of messages of a collective.
int64_t messageCount(const Op &Collective);
/// Returns their sizes, in order. Their sum is `messageBytes`.
std::vector<Bytes> messagesOf(const Program &P, const Op &Collective);
/// Calls \p Do with sizes and how many messages have them.
void forEachSize(const Program &P, const Op &Collective,
                 llvm::function_ref<void(Bytes, int64_t)> Do);

} // namespace foretrace::ir
