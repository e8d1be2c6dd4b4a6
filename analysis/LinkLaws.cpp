// SPDX-License-Identifier: Apache-2.0
#include "analysis/LinkLaws.h"
#include "ir/model/OpKinds.h"
#include <algorithm>
#include <cmath>

using namespace foretrace;
using namespace foretrace::ir;

using Number = KernelParameterId;

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

std::array<Number, 4> LinkLaws::parametersOf(OpKind Kind) {
  const InnerLaw &L = lawOf(Kind);
  return {L.Start, L.Small, L.Switch, L.Large};
}

double LinkLaws::within(OpKind Kind, double Ranks, double Size) const {
  if (Ranks <= 1)
    return 0;
  const InnerLaw &L = lawOf(Kind);
  const double Start =
      std::max(5.0, Of[L.Start] + (std::min(Ranks, 8.0) - 8) * L.StartOfRank);
  const double Moved =
      Size * (Ranks - 1) / Ranks * (Kind == OpKind::AllReduce ? 2 : 1);
  return Start * 1e-6 +
         std::min(Moved / (Of[L.Small] * 1e9),
                  Of[L.Switch] * 1e-6 + Moved / (Of[L.Large] * 1e9));
}

/// NCCL's ring between domains.
double LinkLaws::ring(OpKind Kind, const LinkPlace &At, double Size) const {
  const double Domains = At.Ranks / At.OnDomain;
  const double Steps = ((At.Ranks - Domains) * Of[Number::RingInner] +
                        (Domains - 1) * Of[Number::RingOuter]) *
                       1e-6;
  const double OfNetwork =
      Of[Number::NicEfficiency] * At.OnDomain * At.OuterRate;
  const double Rate = At.OnDomain > 1
                          ? std::min(OfNetwork, Of[lawOf(Kind).Large] * 1e9)
                          : OfNetwork;
  const double Once = Steps + Size * (At.Ranks - 1) / At.Ranks / Rate;
  return Kind == OpKind::AllReduce ? 2 * Once : Once;
}

double LinkLaws::rateOfMessages(const LinkPlace &At) const {
  return At.isWithin() ? Of[Number::AllGatherLarge] * 1e9
                       : Of[Number::NicEfficiency] * At.OuterRate;
}

double LinkLaws::timeOf(OpKind Kind, const LinkPlace &At, double Size) const {
  if (Kind == OpKind::Ring || Kind == OpKind::Broadcast)
    return (At.Ranks - 1) * Of[Number::MessageStart] * 1e-6 +
           Size / rateOfMessages(At);
  if (At.isWithin())
    return within(Kind, At.Ranks, Size);
  if (Kind == OpKind::AllToAll)
    return timeOfExchange(At, Size * At.OnDomain / At.Ranks,
                          Size * (At.Ranks - At.OnDomain) / At.Ranks);
  return ring(Kind, At, Size);
}

/// The parts within and between domains are sent at the same time.
double LinkLaws::timeOfExchange(const LinkPlace &At, double Inside,
                                double Outside) const {
  return std::max(within(OpKind::AllToAll, At.OnDomain, Inside),
                  Outside / (Of[Number::NicExchange] * At.OuterRate)) +
         Of[Number::ExchangeStart] * 1e-6;
}

/// The ranks that divide a message gather it within their domain.
double LinkLaws::timeOfMessage(const LinkPlace &At, double Size) const {
  const double Share = Of[Number::MessageShare];
  return Of[Number::MessageStart] * 1e-6 + Size * Share / rateOfMessages(At) +
         within(OpKind::AllGather, 1 / Share, Size);
}
