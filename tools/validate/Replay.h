// SPDX-License-Identifier: Apache-2.0
//
// Runs the graphs of all ranks against each other, to see whether they end. The
// engine knows operations that wait for others, messages and collectives; each
// format states its rules.
#pragma once

#include "tools/validate/Messages.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <array>
#include <map>
#include <queue>

namespace foretrace::validate {

/// An operation of a rank, by index.
struct RankOp {
  uint32_t Rank = 0, Op = 0;
};

enum class ReplayKind : unsigned char { Local, Send, Recv, Collective };

/// An operation as other ranks see it.
struct ReplayOp {
  ReplayKind Is = ReplayKind::Local;
  uint8_t Type = 0;    ///< of a collective; those that meet have the same
  uint32_t Peer = 0;   ///< rank of a message; index of a collective's group
  uint32_t Tag = 0;    ///< of a message
  uint64_t Amount = 0; ///< bytes of a communication; ns of anything else
};

/// The time, in ns, of a communication that does not wait. Any will do, as long
/// as more bytes take more.
uint64_t communicationTime(uint64_t Bytes);

/// Slots of a rank; each has one operation in flight at a time.
enum class OperationSlot : unsigned char { Cpu, Compute, Communication, None };

/// The graphs of all ranks, without circles, and the rules of a format.
class ReplayRules {
public:
  virtual ~ReplayRules();

  /// Returns whether operations take time, and slots. The one with the lowest
  /// index begins first; without time, the one that has been ready for longest.
  virtual bool isTimed() const { return false; }
  /// Returns whether a send ends with its receive rather than on its own.
  virtual bool doSendsWait() const { return false; }
  /// Returns whether a receive takes messages of its own size only.
  virtual bool doSizesMatch() const { return false; }

  virtual size_t ranks() const = 0;
  /// Returns how many others each operation of \p Rank waits for.
  virtual std::vector<uint32_t> waits(uint32_t Rank) const = 0;
  virtual ReplayOp op(RankOp Of) const = 0;
  virtual OperationSlot slot(RankOp) const { return OperationSlot::None; }
  /// Calls \p Visit with operations that wait until \p On begins, or ends.
  virtual void forEachAfter(RankOp On, bool IsStart,
                            llvm::function_ref<void(uint32_t)> Visit) const = 0;
  /// The ranks of a collective's group.
  virtual llvm::ArrayRef<uint32_t> members(uint32_t) const { return {}; }
  /// Describes an operation that does not end: `node 3, a receive with tag 7`.
  virtual std::string describe(RankOp Of) const = 0;
};

/// One run.
///   * A message meets the receive of its sender, receiver and tag that has
///     waited for longest.
///   * A collective begins when its last member has begun it, the n-th of a
///     group on one rank with the n-th on another; members that differ never
///     end.
class Replay {
public:
  explicit Replay(const ReplayRules &Rules);

  /// Runs until all operations have ended or wait. How many have not ended.
  uint64_t run();
  /// Returns the number of operations.
  uint64_t count() const { return Count; }
  /// Explains which rank waits for which after run(), from the first that
  /// waits; \p First is what it waits in.
  std::string explain(RankOp &First) const;
  /// Sends and their receives, of other sizes.
  llvm::ArrayRef<std::pair<RankOp, RankOp>> unequal() const { return Unequal; }
  using Messages = std::multimap<Message, RankOp>;
  /// Returns the sends that were never received.
  const Messages &unreceived() const { return Sent; }

private:
  /// Ready operations, the lowest index first.
  using ReadyQueue =
      std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>>;
  struct RankState {
    std::vector<uint32_t> Waits;     ///< how many others each operation awaits
    std::array<ReadyQueue, 4> Ready; ///< by slot
    std::array<std::optional<uint32_t>, 3> InFlight; ///< by slot
    llvm::DenseMap<uint32_t, uint64_t> Begun;        ///< collectives, by group
  };
  struct Event {
    uint64_t Time, Order;
    RankOp What;
    bool operator>(const Event &O) const {
      return std::tie(Time, Order) > std::tie(O.Time, O.Order);
    }
  };

  void makeReady(RankOp S);
  void fillSlots(uint32_t Rank);
  void release(RankOp S, bool IsStart);
  void begin(RankOp S);
  void meet(RankOp S);
  void receive(RankOp S);
  void deliver(RankOp S);
  void pair(RankOp Send, RankOp Receive);
  void endAfter(RankOp S, uint64_t Ns);
  void end(RankOp S);
  void enqueue(RankOp S, uint64_t Ns);
  Message messageOf(RankOp S) const;
  std::vector<std::optional<RankOp>> blocked() const;
  uint32_t waitsFor(RankOp Blocked) const;

  const ReplayRules &Rules;
  std::vector<RankState> Ranks;
  /// Ends of operations; without time, beginnings.
  std::priority_queue<Event, std::vector<Event>, std::greater<>> Events;
  /// Ranks that have begun a collective, by group and turn.
  std::map<std::pair<uint32_t, uint64_t>, std::vector<RankOp>> Meetings;
  Messages Sent, Awaited; ///< without the other end
  std::vector<std::pair<RankOp, RankOp>> Unequal;
  uint64_t Now = 0, NumEvents = 0, Count = 0, Done = 0;
};

} // namespace foretrace::validate
