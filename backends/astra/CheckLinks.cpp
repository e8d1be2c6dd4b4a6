// SPDX-License-Identifier: Apache-2.0
#include "analysis/Links.h"
#include "backends/astra/Network.h"
#include "ir/model/OpKinds.h"
#include "lang/diagnostics/Backends.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::astra;

/// Kinds of groups of several ranks that communicate. A collective of all ranks
/// is none of them: ASTRA-sim runs it dimension by dimension.
static std::vector<Group> groupsOf(const Program &P) {
  const int64_t World = *P.Spec.Parallel.World;
  std::vector<Group> Groups;
  for (const Block &B : P.Blocks)
    for (const Op &O : B.Ops) {
      if (!isCollective(O.Kind))
        continue;
      const int64_t Size = O.Group.size(P.Mesh);
      if (Size > 1 && (Size < World || O.Kind == OpKind::Ring) &&
          !llvm::is_contained(Groups, O.Group))
        Groups.push_back(O.Group);
    }
  return Groups;
}

namespace {

/// Links of one kind of group, or between stages.
struct CountedLinks {
  LinkSpan All;
  std::vector<__int128> OffRail; ///< by tier

  CountedLinks &operator+=(const CountedLinks &More);
};

} // namespace

CountedLinks &CountedLinks::operator+=(const CountedLinks &More) {
  All.Links += More.All.Links;
  for (auto [To, From] : {std::pair(&All.ByTier, &More.All.ByTier),
                          std::pair(&OffRail, &More.OffRail)}) {
    To->resize(From->size());
    for (const auto &[Sum, Links] : llvm::zip_equal(*To, *From))
      Sum += Links;
  }
  return *this;
}

/// Links between stages, both ways.
static CountedLinks linksOfStages(const Program &P, const LinkMap &Links) {
  CountedLinks Sum;
  for (const Stage &S : P.Stages) {
    const StageRange Stages = {S.First, S.Count};
    for (const Schedule::Messages &M : P.Schedule.messagesOf(S.First))
      Sum += {Links.between(M.Distance, Stages),
              Links.offRail(M.Distance, Stages)};
  }
  return Sum;
}

/// Reports links that are charged to a tier inside the one that joins their
/// ends.
static void reportOffRail(const EmitRequest &Request, llvm::StringRef Of,
                          const CountedLinks &Links, DiagnosticEngine &Diags) {
  __int128 Leaving = Links.All.Links; // domains of the tiers so far
  for (const auto &[Tier, Joined, OffRail] :
       llvm::zip(Request.Program.Spec.Cluster->Tiers, Links.All.ByTier,
                 Links.OffRail)) {
    Leaving -= Joined;
    if (OffRail != 0)
      Diags.report(Request.Emit.Range, diag::AstraOffRail,
                   static_cast<int64_t>(OffRail), static_cast<int64_t>(Leaving),
                   Of, Tier.Name);
  }
}

static void checkRails(const EmitRequest &Request, const LinkMap &Links,
                       DiagnosticEngine &Diags) {
  const Program &P = Request.Program;
  const StageRange Stages = {0, P.Schedule.Stages};
  for (const Group &G : groupsOf(P))
    reportOffRail(
        Request, "of `" + textOf(G, P.Spec, P.Mesh) + "`",
        {Links.within(G, Route::Ring, Stages), Links.offRail(G, Stages)},
        Diags);
  reportOffRail(Request, "between stages", linksOfStages(P, Links), Diags);
}

/// Reports groups with messages that a tier inside tier \p Outermost joins.
static void checkInnerTiers(const EmitRequest &Request, const LinkMap &Links,
                            size_t Outermost, DiagnosticEngine &Diags) {
  const Program &P = Request.Program;
  std::vector<std::string> Names;
  for (const Group &G : groupsOf(P)) {
    const LinkSpan Span = Links.within(G, Route::Ring, {0, P.Schedule.Stages});
    const auto Inside = llvm::ArrayRef(Span.ByTier).take_front(Outermost);
    if (llvm::any_of(Inside, [](__int128 Joined) { return Joined != 0; }))
      Names.push_back("`" + textOf(G, P.Spec, P.Mesh) + "`");
  }
  if (Names.empty())
    return;
  const NamedAttribute *A = Request.Emit.Options.find("network");
  Diags.report(A->Value.Range, diag::AstraAware,
               P.Spec.Cluster->Tiers[Outermost].Name, llvm::join(Names, ", "));
}

void astra::checkLinks(const EmitRequest &Request, NetworkKind Network,
                       DiagnosticEngine &Diags) {
  const Program &P = Request.Program;
  const ClusterSpec &C = *P.Spec.Cluster;
  const int64_t World = *P.Spec.Parallel.World;
  const LinkMap Links(P.Mesh, *P.Spec.Parallel.RankOrder, &C);
  const std::vector<NetworkDimension> Tiers =
      dimensionsOf(C, World, NetworkKind::Unaware);
  if (Tiers.size() == 1)
    return;
  if (Network == NetworkKind::Unaware)
    checkRails(Request, Links, Diags);
  else
    checkInnerTiers(Request, Links,
                    static_cast<size_t>(Tiers.back().Tier - C.Tiers.data()),
                    Diags);
}
