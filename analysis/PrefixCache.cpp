// SPDX-License-Identifier: Apache-2.0
#include "analysis/PrefixCache.h"
#include "llvm/ADT/STLExtras.h"
#include <list>
#include <unordered_map>

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// Blocks by how recently they were used, each touched in constant time.
class RecentBlocks {
public:
  bool contains(uint64_t Id) const { return Known.count(Id) != 0; }
  int64_t size() const { return static_cast<int64_t>(Known.size()); }

  void touch(uint64_t Id) {
    const auto [It, IsNew] = Known.try_emplace(Id);
    if (IsNew) {
      Order.push_front(Id);
      It->second = Order.begin();
    } else {
      Order.splice(Order.begin(), Order, It->second);
    }
  }
  /// Removes the least recently used block.
  void removeOldest() {
    Known.erase(Order.back());
    Order.pop_back();
  }

private:
  std::list<uint64_t> Order; ///< the most recent one first
  std::unordered_map<uint64_t, std::list<uint64_t>::iterator> Known;
};

} // namespace

PrefixHits foretrace::replayPrefixes(const RequestTrace &Trace,
                                     int64_t Capacity) {
  PrefixHits Sum;
  RecentBlocks Cache;
  for (const TracedRequest &R : Trace.Requests) {
    const auto Miss =
        llvm::find_if(R.Ids, [&](uint64_t Id) { return !Cache.contains(Id); });
    const int64_t Hits = Miss - R.Ids.begin();
    Sum.Blocks += static_cast<int64_t>(R.Ids.size());
    Sum.HitBlocks += Hits;
    if (R.Input > 0) // the last token is computed for its logits
      Sum.HitTokens += std::min<int64_t>(Hits * RequestTrace::BlockTokens,
                                         int64_t(R.Input) - 1);
    Sum.FullHits += int64_t(Miss == R.Ids.end());
    for (const uint64_t Id : llvm::reverse(R.Ids))
      Cache.touch(Id);
    for (; Cache.size() > Capacity; ++Sum.Evictions)
      Cache.removeOldest();
  }
  Sum.BlocksLeft = Cache.size();
  return Sum;
}
