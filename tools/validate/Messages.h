// SPDX-License-Identifier: Apache-2.0
//
// Whether every message that is sent is received, in the memory of a number for
// each rank: what is sent to a rank and what it receives must have the same sum
// of hashes. A second look at the messages of a rank that fails says which.
#pragma once

#include "tools/validate/Findings.h"
#include "llvm/ADT/DenseMap.h"
#include <tuple>

namespace foretrace::validate {

/// Ranks of a set whose messages or collectives do not match and that are
/// looked up, so that both places can be told.
constexpr size_t MostLookedUp = 4;
/// Operations of a set that are replayed; each takes some 60 bytes.
constexpr uint64_t MostReplayed = 5000000;

struct Message {
  uint32_t Source = 0, Target = 0;
  uint64_t Tag = 0, Bytes = 0;

  bool operator<(const Message &M) const {
    return std::tie(Target, Source, Tag, Bytes) <
           std::tie(M.Target, M.Source, M.Tag, M.Bytes);
  }
};
/// Returns a hash that differs for different messages, but for one in 2^64.
uint64_t hashOf(const Message &M);

/// Sums of the messages that the ranks of a set send and receive.
class MessageLedger {
public:
  /// Messages match only if all their members do, including the size.
  void send(const Message &M) { Sums[M.Target] += hashOf(M); }
  void receive(const Message &M) { Sums[M.Target] -= hashOf(M); }
  void merge(const MessageLedger &Other);
  /// Ranks that do not receive what is sent to them, in order; at most \p Most.
  std::vector<uint32_t> unbalanced(size_t Most) const;

private:
  /// By rank, in more bits: no rank is a key that the map keeps for itself.
  llvm::DenseMap<uint64_t, uint64_t> Sums;
};

/// Looks up the messages to a few ranks and their places.
class MessageLookup {
public:
  /// Slugs for unmatched messages.
  struct Slugs {
    diag::Id Send, Recv, Size;
  };

  explicit MessageLookup(std::vector<uint32_t> Targets)
      : Targets(std::move(Targets)) {}

  bool wants(uint32_t Target) const;
  void send(const Message &M, const Place &At) { add(M, At, 1); }
  void receive(const Message &M, const Place &At) { add(M, At, -1); }
  /// Adds the messages of files after those of this.
  void merge(const MessageLookup &Later);
  /// Reports what is not matched, in order of ranks and tags.
  void report(const Slugs &S, Findings &Out) const;

private:
  struct Entry {
    int64_t Open = 0;     ///< sends, less receives
    Place Sent, Received; ///< the last of each
  };
  /// Messages that only their sizes tell apart.
  using Sizes = std::map<uint64_t, Entry>;

  void add(const Message &M, const Place &At, int64_t Count);

  std::vector<uint32_t> Targets;
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, Sizes> Known;
};

} // namespace foretrace::validate
