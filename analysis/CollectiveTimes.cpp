// SPDX-License-Identifier: Apache-2.0
#include "analysis/CollectiveTimes.h"
#include "analysis/OpTimes.h"
#include "ir/model/OpKinds.h"
#include "ir/model/Routing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
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

CollectiveTimes::CollectiveTimes(const Program &P)
    : P(P), Links(P.Mesh, *P.Spec.Parallel.RankOrder, &*P.Spec.Cluster) {}

bool CollectiveTimes::communicates(const Program &P) {
  return P.Schedule.Stages > 1 || llvm::any_of(P.Blocks, [&](const Block &B) {
           return llvm::any_of(B.Ops, [&](const Op &O) {
             return isCollective(O.Kind) && O.Group.size(P.Mesh) > 1;
           });
         });
}

/// Messages have the rate of an all-gather.
const KernelParameterInfo *CollectiveTimes::findMissing(const Program &P) {
  auto FirstOf = [&](OpKind Kind) -> const KernelParameterInfo * {
    const InnerLaw &L = lawOf(Kind);
    for (const Number Of : {L.Start, L.Small, L.Switch, L.Large})
      if (!P.Spec.Cost.kernel(Of))
        return &kernelParameters()[static_cast<size_t>(Of)];
    return nullptr;
  };
  for (const Block &B : P.Blocks)
    for (const Op &O : B.Ops)
      if (isCollective(O.Kind) && O.Group.size(P.Mesh) > 1)
        if (const KernelParameterInfo *Lacks = FirstOf(O.Kind))
          return Lacks;
  return P.Schedule.Stages > 1 ? FirstOf(OpKind::AllGather) : nullptr;
}

double CollectiveTimes::of(Number Of) const { return *P.Spec.Cost.kernel(Of); }

/// The share of pairs of ranks that are in one domain tells how many ranks a
/// domain has.
CollectiveTimes::Place CollectiveTimes::placeOf(const LinkSpan &Span,
                                                double Ranks) const {
  Place At{Ranks, 0};
  if (Span.Links == 0)
    return At;
  At.OnDomain = 1 + static_cast<double>(Span.ByTier[0]) * (Ranks - 1) /
                        static_cast<double>(Span.Links);
  size_t Joined = Span.ByTier.size() - 1;
  while (Joined > 0 && Span.ByTier[Joined] == 0)
    --Joined;
  for (size_t I = 1; I <= Joined; ++I) { // messages pass through all of them
    const auto Rate = static_cast<double>(*P.Spec.Cluster->Tiers[I].Bandwidth);
    At.OuterRate = I == 1 ? Rate : std::min(At.OuterRate, Rate);
  }
  return At;
}

const CollectiveTimes::Place &CollectiveTimes::placeOf(const Group &G) {
  const auto [It, IsNew] = Known.try_emplace(textOf(G, P.Spec, P.Mesh));
  if (IsNew)
    It->second =
        placeOf(Links.within(G, Route::Exchange, {0, P.Schedule.Stages}),
                static_cast<double>(G.size(P.Mesh)));
  return It->second;
}

/// Returns the time of a collective within a domain, in seconds.
double CollectiveTimes::within(OpKind Kind, double Ranks, double Size) const {
  if (Ranks <= 1)
    return 0;
  const InnerLaw &L = lawOf(Kind);
  const double Start =
      std::max(5.0, of(L.Start) + (std::min(Ranks, 8.0) - 8) * L.StartOfRank);
  const double Moved =
      Size * (Ranks - 1) / Ranks * (Kind == OpKind::AllReduce ? 2 : 1);
  return Start * 1e-6 +
         std::min(Moved / (of(L.Small) * 1e9),
                  of(L.Switch) * 1e-6 + Moved / (of(L.Large) * 1e9));
}

/// Returns the time of an all-to-all between domains, in seconds: the parts
/// within and between domains are sent at the same time.
double CollectiveTimes::exchange(const Block &B, const Op &O, const Place &At,
                                 double Size) const {
  const auto Ranks = static_cast<double>(O.Group.size(P.Mesh));
  double Inside = Size * At.OnDomain / Ranks,
         Outside = Size * (Ranks - At.OnDomain) / Ranks;
  const double Domains = Ranks / At.OnDomain;
  if (B.Copies && Domains == std::floor(Domains)) {
    const auto Whole = static_cast<int64_t>(Domains);
    const auto ToRanks = static_cast<double>(
        expectedParts(*B.Copies, O.Group.size(P.Mesh)).value_or(WholeToken));
    const double ToDomains = static_cast<double>(
        expectedParts(*B.Copies, Whole).value_or(Whole * WholeToken));
    Inside = Size; // copies that arrive are sent on
    Outside *= std::min(ToDomains / ToRanks, 1.0);
  }
  return std::max(within(OpKind::AllToAll, At.OnDomain, Inside),
                  Outside / (of(Number::NicExchange) * At.OuterRate)) +
         of(Number::ExchangeStart) * 1e-6;
}

/// Returns the time of NCCL's ring between domains, in seconds.
double CollectiveTimes::ring(OpKind Kind, double Ranks, const Place &At,
                             double Size) const {
  const double Domains = Ranks / At.OnDomain;
  const double Steps = ((Ranks - Domains) * of(Number::RingInner) +
                        (Domains - 1) * of(Number::RingOuter)) *
                       1e-6;
  const double OfNetwork =
      of(Number::NicEfficiency) * At.OnDomain * At.OuterRate;
  const double Rate = At.OnDomain > 1
                          ? std::min(OfNetwork, of(lawOf(Kind).Large) * 1e9)
                          : OfNetwork;
  const double Once = Steps + Size * (Ranks - 1) / Ranks / Rate;
  return Kind == OpKind::AllReduce ? 2 * Once : Once;
}

Nanoseconds CollectiveTimes::timeOf(const Block &B, const Op &O,
                                    Bytes Message) {
  const auto Ranks = static_cast<double>(O.Group.size(P.Mesh));
  if (Ranks <= 1)
    return {};
  if (Message.isOverflow())
    return Nanoseconds::overflow();
  const auto Size = static_cast<double>(Message.value());
  const Place &At = placeOf(O.Group);
  const bool IsWithin = At.OnDomain >= Ranks;
  if (O.Kind == OpKind::Ring || O.Kind == OpKind::Broadcast) {
    const double Rate = IsWithin ? of(Number::AllGatherLarge) * 1e9
                                 : of(Number::NicEfficiency) * At.OuterRate;
    return roundedTime((Ranks - 1) * of(Number::MessageStart) * 1e-6 +
                       Size / Rate);
  }
  if (IsWithin)
    return roundedTime(within(O.Kind, Ranks, Size));
  return roundedTime(O.Kind == OpKind::AllToAll
                         ? exchange(B, O, At, Size)
                         : ring(O.Kind, Ranks, At, Size));
}

Nanoseconds CollectiveTimes::timeOfMessage(Bytes Size, int64_t Distance) {
  if (Size.isOverflow())
    return Nanoseconds::overflow();
  const Place At =
      placeOf(Links.between(Distance, {std::max<int64_t>(-Distance, 0),
                                       P.Schedule.Stages - std::abs(Distance)}),
              2);
  // Some stages may be neighbours in a domain; the others decide.
  const double Rate = At.OnDomain >= 2
                          ? of(Number::AllGatherLarge) * 1e9
                          : of(Number::NicEfficiency) * At.OuterRate;
  return roundedTime(of(Number::MessageStart) * 1e-6 +
                     static_cast<double>(Size.value()) / Rate);
}

std::string CollectiveTimes::describe(const Op &O) {
  const auto Ranks = static_cast<double>(O.Group.size(P.Mesh));
  const Place &At = placeOf(O.Group);
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << llvm::format("%g", At.OnDomain) << " of " << llvm::format("%g", Ranks)
     << " ranks in a domain of `" << P.Spec.Cluster->Tiers.front().Name << '`';
  return Text;
}
