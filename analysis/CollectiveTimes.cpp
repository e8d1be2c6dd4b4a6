// SPDX-License-Identifier: Apache-2.0
#include "analysis/CollectiveTimes.h"
#include "analysis/OpTimes.h"
#include "ir/model/OpKinds.h"
#include "ir/model/Routing.h"
#include "ir/model/SpecKeys.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

using namespace foretrace;
using namespace foretrace::ir;

CollectiveTimes::CollectiveTimes(const Program &P)
    : P(P),
      Laws(BenchmarkNumbers(LawParameters(P.Spec.Cost), P.Spec.Cost.Device)),
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
    for (const KernelParameterId Of : parametersOfCollective(Kind))
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

CollectiveTimes::Span CollectiveTimes::spanOf(const LinkSpan &Of) const {
  Span S;
  if (Of.Links == 0)
    return S;
  S.Links = static_cast<int64_t>(Of.Links);
  S.Inner = static_cast<int64_t>(Of.ByTier[0]);
  size_t Joined = Of.ByTier.size() - 1;
  while (Joined > 0 && Of.ByTier[Joined] == 0)
    --Joined;
  for (size_t I = 1; I <= Joined; ++I) { // messages pass through all of them
    const int64_t Rate = *P.Spec.Cluster->Tiers[I].Bandwidth;
    S.OuterRate = I == 1 ? Rate : std::min(S.OuterRate, Rate);
  }
  return S;
}

/// The share of pairs of ranks that are in one domain tells how many ranks a
/// domain has.
template <typename RealT>
static RealT ranksOnDomain(RealT Ranks, RealT Links, RealT Inner) {
  return named(KeyId::LawOnDomain, 1 + Inner * (Ranks - 1) / Links);
}

const CollectiveTimes::Span &CollectiveTimes::spanOf(const Group &G) {
  const auto [It, IsNew] =
      Known.try_emplace(keyOfPlace(KeyId::PlaceLinks, G).Block);
  if (IsNew)
    It->second =
        spanOf(Links.within(G, Route::Exchange, {0, P.Schedule.Stages}));
  return It->second;
}

LinkPlace CollectiveTimes::placeOf(const Group &G) {
  const Span &S = spanOf(G);
  const auto Ranks = static_cast<double>(G.size(P.Mesh));
  return {Ranks,
          ranksOnDomain(Ranks, static_cast<double>(S.Links),
                        static_cast<double>(S.Inner)),
          static_cast<double>(S.OuterRate)};
}

LinkPlace CollectiveTimes::placeOfMessage(int64_t Distance) {
  const auto [It, IsNew] = KnownMessages.try_emplace(Distance);
  Span &S = It->second;
  if (IsNew)
    S = spanOf(
        Links.between(Distance, {std::max<int64_t>(-Distance, 0),
                                 P.Schedule.Stages - std::abs(Distance)}));
  return {2,
          ranksOnDomain(2.0, static_cast<double>(S.Links),
                        static_cast<double>(S.Inner)),
          static_cast<double>(S.OuterRate)};
}

/// Returns how many domains get a copy of a token, in millionths; 0 if ranks
/// are in one domain, or spread unevenly.
int64_t CollectiveTimes::copiesToDomains(const TokenChoice &Of,
                                         const Group &G) {
  const LinkPlace At = placeOf(G);
  const double Domains = At.Ranks / At.OnDomain;
  if (!At.isSpread() || Domains != std::floor(Domains))
    return 0;
  const auto Whole = static_cast<int64_t>(Domains);
  return expectedParts(Of, Whole).value_or(Whole * WholeToken);
}

int64_t CollectiveTimes::numberAt(Key K) {
  const Group G = groupOfPlace(K);
  switch (K.Id) {
  case KeyId::PlaceLinks:
    return spanOf(G).Links;
  case KeyId::PlaceInner:
    return spanOf(G).Inner;
  case KeyId::PlaceRate:
    return spanOf(G).OuterRate;
  case KeyId::PlaceToRanks:
    return expectedParts(*P.Blocks[BlockId(K.Stage)].Copies, G.size(P.Mesh))
        .value_or(WholeToken);
  case KeyId::PlaceToDomains:
    return copiesToDomains(*P.Blocks[BlockId(K.Stage)].Copies, G);
  default:
    llvm_unreachable("not a key of a place");
  }
}

Nanoseconds CollectiveTimes::timeOf(OpKind Kind, const Group &G, double Size) {
  return G.size(P.Mesh) > 1 ? roundedTime(Laws.timeOf(Kind, placeOf(G), Size))
                            : Nanoseconds();
}

Nanoseconds CollectiveTimes::timeOfMessage(Bytes Size, int64_t Distance) {
  if (Size.isOverflow())
    return Nanoseconds::overflow();
  return roundedTime(Laws.timeOfMessage(placeOfMessage(Distance),
                                        static_cast<double>(Size.value())));
}

std::string CollectiveTimes::describe(const Op &O) {
  const LinkPlace At = placeOf(O.Group);
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << llvm::format("%g", At.OnDomain) << " of "
     << llvm::format("%g", At.Ranks) << " ranks in a domain of `"
     << P.Spec.Cluster->Tiers.front().Name << '`';
  return Text;
}

Expr CollectiveLaws::numberOf(KeyId Id, const Group &G, unsigned Block) const {
  const Key K = keyOfPlace(Id, G, Block);
  return {P.Sizes, P.Sizes.key(K, Places.numberAt(K))};
}

LinkPlaceOf<RealExpr> CollectiveLaws::placeOf(const Group &G) const {
  const RealExpr Ranks(sizeOf(P, G));
  return {Ranks,
          ranksOnDomain(Ranks, RealExpr(numberOf(KeyId::PlaceLinks, G)),
                        RealExpr(numberOf(KeyId::PlaceInner, G))),
          RealExpr(numberOf(KeyId::PlaceRate, G))};
}

RealExpr CollectiveLaws::secondsOf(const Block &B, const Op &O,
                                   RealExpr Size) const {
  const LinkPlaceOf<RealExpr> At = placeOf(O.Group);
  const RealExpr Usual = Laws.timeOf(O.Kind, At, Size);
  if (O.Kind != OpKind::AllToAll || !B.Copies)
    return Usual;
  const auto Index = static_cast<unsigned>(&B - &*P->Blocks.begin());
  const Expr ToRanks = numberOf(KeyId::PlaceToRanks, O.Group, Index),
             ToDomains = numberOf(KeyId::PlaceToDomains, O.Group, Index);
  // Copies that arrive are sent on.
  const RealExpr Leaving =
      Size * (At.Ranks - At.OnDomain) / At.Ranks *
      min(RealExpr(ToDomains) / RealExpr(ToRanks), Size.number(1));
  return select(less(ir::numberOf(P, 0), ToDomains),
                Laws.timeOfExchange(At, Size, Leaving), Usual);
}

Expr CollectiveLaws::timeOf(const Block &B, const Op &O, Expr Size) const {
  return O.Group.size(P->Mesh) > 1
             ? nanoseconds(secondsOf(B, O, RealExpr(Size)))
             : ir::numberOf(P, 0);
}
