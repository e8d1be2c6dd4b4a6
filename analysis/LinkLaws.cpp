// SPDX-License-Identifier: Apache-2.0
#include "analysis/LinkLaws.h"
#include "ir/model/OpKinds.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::ir;

using Number = KernelParameterId;
using std::max;
using std::min;

namespace {

/// The parameters of a collective within a domain.
struct InnerLaw {
  Number Start, Small, Switch, Large;
  double StartOfRank; ///< us that each rank of at most eight adds to the start
};

} // namespace

static const InnerLaw &lawOf(OpKind Kind) {
  static constexpr InnerLaw Laws[] = {
      {Number::AllReduceStart, Number::AllReduceSmall, Number::AllReduceSwitch,
       Number::AllReduceLarge, 1.9},
      {Number::AllGatherStart, Number::AllGatherSmall, Number::AllGatherSwitch,
       Number::AllGatherLarge, 1.1},
      {Number::ReduceScatterStart, Number::ReduceScatterSmall,
       Number::ReduceScatterSwitch, Number::ReduceScatterLarge, 1.1},
      {Number::AllToAllStart, Number::AllToAllSmall, Number::AllToAllSwitch,
       Number::AllToAllLarge, 1.1}};
  switch (Kind) {
  case OpKind::AllReduce:
    return Laws[0];
  case OpKind::ReduceScatter:
    return Laws[2];
  case OpKind::AllToAll:
    return Laws[3];
  default:
    return Laws[1];
  }
}

std::array<Number, 4> foretrace::parametersOfCollective(OpKind Kind) {
  const InnerLaw &L = lawOf(Kind);
  return {L.Start, L.Small, L.Switch, L.Large};
}

template <typename NumbersT>
auto LinkLaws<NumbersT>::within(OpKind Kind, Real Ranks, Real Size) const
    -> Real {
  const InnerLaw &L = lawOf(Kind);
  const Real Start =
      max(Of.number(5),
          Of[L.Start] + (min(Ranks, Of.number(8)) - 8) * L.StartOfRank);
  const Real Moved =
      Size * (Ranks - 1) / Ranks * (Kind == OpKind::AllReduce ? 2.0 : 1.0);
  return select(isLess(Of.number(1), Ranks),
                Start * 1e-6 +
                    min(Moved / (Of[L.Small] * 1e9),
                        Of[L.Switch] * 1e-6 + Moved / (Of[L.Large] * 1e9)),
                Of.number(0));
}

/// NCCL's ring between domains.
template <typename NumbersT>
auto LinkLaws<NumbersT>::ring(OpKind Kind, const Place &At, Real Size) const
    -> Real {
  const Real Domains = At.Ranks / At.OnDomain;
  const Real Steps = ((At.Ranks - Domains) * Of[Number::RingInner] +
                      (Domains - 1) * Of[Number::RingOuter]) *
                     1e-6;
  const Real OfNetwork = Of[Number::NicEfficiency] * At.OnDomain * At.OuterRate;
  const Real Rate =
      select(isLess(Of.number(1), At.OnDomain),
             min(OfNetwork, Of[lawOf(Kind).Large] * 1e9), OfNetwork);
  const Real Once = Steps + Size * (At.Ranks - 1) / At.Ranks / Rate;
  return Kind == OpKind::AllReduce ? 2 * Once : Once;
}

template <typename NumbersT>
auto LinkLaws<NumbersT>::rateOfMessages(const Place &At) const -> Real {
  return select(At.isSpread(), Of[Number::NicEfficiency] * At.OuterRate,
                Of[Number::AllGatherLarge] * 1e9);
}

template <typename NumbersT>
auto LinkLaws<NumbersT>::timeOf(OpKind Kind, const Place &At, Real Size) const
    -> Real {
  if (Kind == OpKind::Ring || Kind == OpKind::Broadcast)
    return (At.Ranks - 1) * Of[Number::MessageStart] * 1e-6 +
           Size / rateOfMessages(At);
  return select(At.isSpread(),
                Kind == OpKind::AllToAll
                    ? timeOfExchange(At, Size * At.OnDomain / At.Ranks,
                                     Size * (At.Ranks - At.OnDomain) / At.Ranks)
                    : ring(Kind, At, Size),
                within(Kind, At.Ranks, Size));
}

/// The parts within and between domains are sent at the same time.
template <typename NumbersT>
auto LinkLaws<NumbersT>::timeOfExchange(const Place &At, Real Inside,
                                        Real Outside) const -> Real {
  return max(within(OpKind::AllToAll, At.OnDomain, Inside),
             Outside / (Of[Number::NicExchange] * At.OuterRate)) +
         Of[Number::ExchangeStart] * 1e-6;
}

/// The ranks that divide a message gather it within their domain.
template <typename NumbersT>
auto LinkLaws<NumbersT>::timeOfMessage(const Place &At, Real Size) const
    -> Real {
  const Real Share = Of[Number::MessageShare];
  return Of[Number::MessageStart] * 1e-6 + Size * Share / rateOfMessages(At) +
         within(OpKind::AllGather, 1 / Share, Size);
}

template class foretrace::LinkLaws<BenchmarkNumbers>;
template class foretrace::LinkLaws<JobNumbers>;
