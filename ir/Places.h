// SPDX-License-Identifier: Apache-2.0
//
// Ranks by where in a domain of a cluster they stand.
#ifndef FORETRACE_IR_PLACES_H
#define FORETRACE_IR_PLACES_H

#include "llvm/ADT/DenseMap.h"
#include <algorithm>
#include <cstdint>
#include <numeric>

namespace foretrace::ir {

/// How many ranks stand at each place of domains of \p Size devices.
class Places {
public:
  Places(int64_t Size, int64_t First) : Size(Size) { Ranks[First % Size] = 1; }

  /// All of them again, \p Count times in all, each time \p Step further. They
  /// come back to the same place after a while.
  void repeat(int64_t Step, int64_t Count) {
    Step %= Size;
    const int64_t Period = Size / std::gcd(Step, Size);
    llvm::DenseMap<int64_t, int64_t> Next;
    for (auto [Place, Alike] : Ranks) {
      int64_t At = Place;
      for (int64_t I = 0; I < std::min(Period, Count); ++I) {
        Next[At] += Alike * (Count / Period + (I < Count % Period ? 1 : 0));
        At = At < Size - Step ? At + Step : At - (Size - Step);
      }
    }
    Ranks = std::move(Next);
  }

  auto begin() const { return Ranks.begin(); }
  auto end() const { return Ranks.end(); }

private:
  int64_t Size;
  llvm::DenseMap<int64_t, int64_t> Ranks;
};

} // namespace foretrace::ir

#endif
