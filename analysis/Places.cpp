// SPDX-License-Identifier: Apache-2.0
#include "analysis/Places.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <numeric>

using namespace foretrace::ir;

/// The sum of floor((A * i + B) / M) over i in [0, N), as Euclid's algorithm
/// finds it: each turn swaps the points below a line with those left of it.
static __int128 floorSum(__int128 N, __int128 A, __int128 B, __int128 M) {
  __int128 Sum = 0;
  for (;;) {
    Sum += N * (N - 1) / 2 * (A / M) + N * (B / M);
    A %= M;
    B %= M;
    const __int128 Last = A * N + B;
    if (Last < M)
      return Sum;
    N = Last / M;
    B = Last % M;
    std::swap(A, M);
  }
}

/// Goes through all rows but the last.
static __int128 countWanted(llvm::ArrayRef<PlaceRow> Rows, int64_t First,
                            int64_t Wanted, int64_t Size) {
  if (Rows.empty())
    return First % Size < Wanted;
  const int64_t Step = Rows.front().Step % Size, Count = Rows.front().Count;
  First %= Size;
  if (Rows.size() == 1)
    return floorSum(Count, Step, __int128(First) + Size, Size) -
           floorSum(Count, Step, __int128(First) + Size - Wanted, Size);
  const int64_t Period = Size / std::gcd(Step, Size);
  __int128 Sum = 0;
  for (int64_t I = 0; I < std::min(Period, Count); ++I) {
    const int64_t Alike = Count / Period + (I < Count % Period ? 1 : 0);
    Sum += Alike * countWanted(Rows.drop_front(), First, Wanted, Size);
    First = First < Size - Step ? First + Step : First - (Size - Step);
  }
  return Sum;
}

/// Joins rows that continue without gaps; removes rows of one place.
static llvm::SmallVector<PlaceRow, 4>
join(llvm::MutableArrayRef<PlaceRow> Rows) {
  llvm::sort(Rows, [](PlaceRow A, PlaceRow B) { return A.Step < B.Step; });
  llvm::SmallVector<PlaceRow, 4> Joined;
  for (const PlaceRow R : Rows) {
    if (R.Count == 1)
      continue;
    if (!Joined.empty() && R.Step == Joined.back().Step * Joined.back().Count)
      Joined.back().Count *= R.Count;
    else
      Joined.push_back(R);
  }
  return Joined;
}

__int128 foretrace::countPlaces(llvm::SmallVector<PlaceRow, 4> Rows,
                                int64_t First, int64_t Wanted, int64_t Size) {
  if (Wanted <= 0)
    return 0;
  Rows = join(Rows);
  auto PlacesOf = [&](PlaceRow R) {
    return std::min(R.Count, Size / std::gcd(R.Step, Size));
  };
  llvm::sort(Rows,
             [&](PlaceRow A, PlaceRow B) { return PlacesOf(A) < PlacesOf(B); });
  return countWanted(Rows, First, Wanted, Size);
}
