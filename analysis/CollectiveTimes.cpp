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

CollectiveTimes::CollectiveTimes(const Program &P)
    : P(P), Laws(LawParameters(P.Spec.Cost)),
      Links(P.Mesh, *P.Spec.Parallel.RankOrder, &*P.Spec.Cluster) {}

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
    for (const KernelParameterId Of : LinkLaws::parametersOf(Kind))
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

/// The share of pairs of ranks that are in one domain tells how many ranks a
/// domain has.
LinkPlace CollectiveTimes::placeOf(const LinkSpan &Span, double Ranks) const {
  LinkPlace At{Ranks, Ranks, 0};
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

const LinkPlace &CollectiveTimes::placeOf(const Group &G) {
  const auto [It, IsNew] = Known.try_emplace(textOf(G, P.Spec, P.Mesh));
  if (IsNew)
    It->second =
        placeOf(Links.within(G, Route::Exchange, {0, P.Schedule.Stages}),
                static_cast<double>(G.size(P.Mesh)));
  return It->second;
}

/// Returns the time of an all-to-all between domains, in seconds.
double CollectiveTimes::exchange(const Block &B, const Op &O,
                                 const LinkPlace &At, double Size) const {
  const double Domains = At.Ranks / At.OnDomain;
  if (!B.Copies || Domains != std::floor(Domains))
    return Laws.timeOf(O.Kind, At, Size);
  const auto Whole = static_cast<int64_t>(Domains);
  const auto ToRanks = static_cast<double>(
      expectedParts(*B.Copies, O.Group.size(P.Mesh)).value_or(WholeToken));
  const double ToDomains = static_cast<double>(
      expectedParts(*B.Copies, Whole).value_or(Whole * WholeToken));
  // Copies that arrive are sent on.
  return Laws.timeOfExchange(At, Size,
                             Size * (At.Ranks - At.OnDomain) / At.Ranks *
                                 std::min(ToDomains / ToRanks, 1.0));
}

Nanoseconds CollectiveTimes::timeOf(const Block &B, const Op &O,
                                    Bytes Message) {
  if (O.Group.size(P.Mesh) <= 1)
    return {};
  if (Message.isOverflow())
    return Nanoseconds::overflow();
  const auto Size = static_cast<double>(Message.value());
  const LinkPlace &At = placeOf(O.Group);
  return roundedTime(O.Kind == OpKind::AllToAll && !At.isWithin()
                         ? exchange(B, O, At, Size)
                         : Laws.timeOf(O.Kind, At, Size));
}

Nanoseconds CollectiveTimes::timeOf(OpKind Kind, const Group &G, double Size) {
  return G.size(P.Mesh) > 1 ? roundedTime(Laws.timeOf(Kind, placeOf(G), Size))
                            : Nanoseconds();
}

const LinkPlace &CollectiveTimes::placeOfMessage(int64_t Distance) {
  const auto [It, IsNew] = KnownMessages.try_emplace(Distance);
  if (IsNew)
    It->second = placeOf(
        Links.between(Distance, {std::max<int64_t>(-Distance, 0),
                                 P.Schedule.Stages - std::abs(Distance)}),
        2);
  return It->second;
}

Nanoseconds CollectiveTimes::timeOfMessage(Bytes Size, int64_t Distance) {
  if (Size.isOverflow())
    return Nanoseconds::overflow();
  return roundedTime(Laws.timeOfMessage(placeOfMessage(Distance),
                                        static_cast<double>(Size.value())));
}

std::string CollectiveTimes::describe(const Op &O) {
  const LinkPlace &At = placeOf(O.Group);
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << llvm::format("%g", At.OnDomain) << " of "
     << llvm::format("%g", At.Ranks) << " ranks in a domain of `"
     << P.Spec.Cluster->Tiers.front().Name << '`';
  return Text;
}
