// SPDX-License-Identifier: Apache-2.0
#include "analysis/Arrivals.h"
#include "ir/model/RequestTrace.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014).
class SplitMix64 {
public:
  explicit SplitMix64(uint64_t Seed) : State(Seed) {}

  uint64_t next() {
    State += 0x9e3779b97f4a7c15;
    uint64_t Z = State;
    Z = (Z ^ (Z >> 30)) * 0xbf58476d1ce4e5b9;
    Z = (Z ^ (Z >> 27)) * 0x94d049bb133111eb;
    return Z ^ (Z >> 31);
  }

private:
  uint64_t State;
};

} // namespace

/// Binary digits after the point of an exponential variate.
static constexpr unsigned FractionBits = 32;

/// Returns an exponential variate of mean 1. It only compares numbers (von
/// Neumann, "Various techniques used in connection with random digits", 1951),
/// so that no logarithm of a machine decides the result: uniform numbers are
/// drawn while they fall. If their count is odd, the first one is the fraction;
/// otherwise the variate is longer by 1.
static uint64_t drawExponential(SplitMix64 &Random) {
  for (uint64_t Whole = 0;; ++Whole) {
    const uint64_t First = Random.next();
    bool IsOdd = true;
    for (uint64_t Last = First, Next; (Next = Random.next()) < Last;
         Last = Next)
      IsOdd = !IsOdd;
    if (IsOdd)
      return (Whole << FractionBits) + (First >> (64 - FractionBits));
  }
}

int64_t foretrace::arrivalCount(const RequestsSpec &Of) {
  constexpr int64_t Default = 1000;
  if (Of.Count.isPresent())
    return *Of.Count;
  if (!Of.From.isPresent())
    return Default;
  return static_cast<int64_t>(RequestTrace::parse(*Of.From)->Requests.size());
}

/// Nanoseconds of a second, in which the rate counts millionths of requests.
static constexpr uint64_t Scale = 1'000'000'000'000'000;

bool foretrace::canArrive(const RequestsSpec &Of) {
  constexpr int64_t MostRequests = int64_t(1) << 30;
  const auto Count = static_cast<unsigned __int128>(arrivalCount(Of));
  return Count <= MostRequests &&
         Count * Scale / static_cast<uint64_t>(*Of.Rate) < uint64_t(1) << 60;
}

void foretrace::forEachArrival(
    const RequestsSpec &Of, llvm::function_ref<bool(const Arrival &)> Visit) {
  std::vector<TracedRequest> Traced;
  if (Of.From.isPresent())
    Traced = RequestTrace::parse(*Of.From)->Requests;
  SplitMix64 Random(
      static_cast<uint64_t>(Of.Seed.isPresent() ? *Of.Seed : int64_t(0)));
  const int64_t Count = arrivalCount(Of);
  unsigned __int128 Sum = 0;
  for (int64_t I = 0; I < Count; ++I) {
    Sum += drawExponential(Random);
    Arrival A{
        static_cast<int64_t>((Sum * Scale / static_cast<uint64_t>(*Of.Rate)) >>
                             FractionBits),
        *Of.Input, *Of.Output};
    if (!Traced.empty()) {
      const TracedRequest &T = Traced[static_cast<size_t>(I) % Traced.size()];
      A.Input = T.Input;
      A.Output = T.Output;
    }
    if (!Visit(A))
      return;
  }
}
