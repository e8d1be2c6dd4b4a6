// SPDX-License-Identifier: Apache-2.0
#include "ir/model/RequestTrace.h"
#include "ir/model/Routing.h"
#include "ir/model/SpecFields.h"
#include "ir/verify/VerifyParts.h"
#include "lang/diagnostics/IR.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/Support/ErrorHandling.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

class SpecVerifier {
public:
  SpecVerifier(const Program &P, DiagnosticEngine &Diags)
      : S(P.Spec), M(P.Mesh), Diags(Diags),
        IsComplete(P.Facts.contains(Fact::Complete)),
        HasBlocks(P.level() >= Level::Model) {}

  void keys();
  bool mesh();

private:
  void machine();
  void routing();
  void trace();
  void draft();
  void sizes();

  bool isNeeded(Needed By) const;
  void lack(llvm::StringRef Key, SourceRange In) {
    IsWhole = false;
    Diags.report(In, diag::VerifyKey, Key);
  }
  /// Reports what a section at \p In must have and lacks.
  template <typename SpecT> void need(const SpecT &Section, SourceRange In) {
    visitFields(Section, [&](const FieldRow &Row, const auto &F) {
      if (!F.isPresent() && isNeeded(Row.By))
        lack(pathOf(Row), In);
    });
  }

  const Spec &S;
  const Mesh &M;
  DiagnosticEngine &Diags;
  bool IsComplete;
  bool HasBlocks;
  bool IsWhole = true; ///< no key was missing so far
};

} // namespace

bool SpecVerifier::isNeeded(Needed By) const {
  switch (By) {
  case Needed::Always:
    return true;
  case Needed::Complete:
    return IsComplete;
  case Needed::IfRecomputed:
    return IsComplete && S.Train.RecomputeNumLayers.isPresent();
  case Needed::IfOffloaded:
    return IsComplete && S.Train.OffloadNumLayers.isPresent();
  case Needed::IfNetworked:
    return IsComplete && S.Cluster->NicBandwidth.isPresent();
  case Needed::IfRoofline:
    return S.Cost.Kind.is(CostKind::Roofline) ||
           S.Cost.Kind.is(CostKind::Estimate);
  case Needed::Optional:
    return false;
  }
  llvm_unreachable("covered switch");
}

/// Checks the cost model and the cluster.
void SpecVerifier::machine() {
  need(S.Cost, S.Model.Range);
  if (IsComplete)
    need(S.Cost.Device, S.Model.Range);
  else if (S.Train.Precision.isPresent())
    need(S.rooflineDevice(), S.Model.Range);
  for (const LinkSpec &L : S.Cost.Links)
    need(L, L.Range);
  if (!S.Cluster)
    return;
  need(*S.Cluster, S.Cluster->Range);
  if (S.Cluster->Tiers.empty())
    lack("tier", S.Cluster->Range);
  for (const TierSpec &T : S.Cluster->Tiers)
    need(T, T.Range);
}

/// Checks that uneven routing and the load that follows from it agree.
void SpecVerifier::routing() {
  const TrainSpec &T = S.Train;
  const auto R =
      T.Routing.isPresent() ? Routing::parse(*T.Routing) : std::nullopt;
  const bool IsUneven = R && R->Is != Routing::Kind::Balanced;
  if ((T.Routing.isPresent() && !R) ||
      (IsComplete && T.ExpertLoad.isPresent() != IsUneven))
    Diags.report(T.Routing.isPresent() ? T.Routing.Range : T.ExpertLoad.Range,
                 diag::IrRouting);
}

/// Checks that the requests of a trace can be read.
void SpecVerifier::trace() {
  if (S.Requests->From.isPresent() && !RequestTrace::parse(*S.Requests->From))
    Diags.report(S.Requests->From.Range, diag::IrTrace);
}

/// Checks that the acceptance of proposed tokens can be read.
void SpecVerifier::draft() {
  const DraftSpec &D = *S.Draft;
  need(D, D.Range);
  if (D.Acceptance.isPresent() && !DraftSpec::acceptances(*D.Acceptance))
    Diags.report(D.Acceptance.Range, diag::IrAcceptance);
}

/// Checks sums and products that other code does not check.
void SpecVerifier::sizes() {
  if (S.Model.layerCount() > ModelSpec::MaxLayers)
    Diags.report(S.Model.Range, diag::LayerLimit, S.Model.layerCount(),
                 ModelSpec::MaxLayers);
  if (!S.Cluster)
    return;
  const ClusterSpec &C = *S.Cluster;
  const auto Devices =
      Quantity<struct DeviceUnit>(*C.Nodes) * *C.DevicesPerNode;
  if (Devices.isOverflow() || *S.Parallel.World > Devices.value())
    Diags.report(S.Parallel.World.Range, diag::VerifyCluster, *S.Parallel.World,
                 *C.Nodes, *C.DevicesPerNode);
}

void SpecVerifier::keys() {
  need(S.Model, S.Model.Range);
  if (S.Model.Layers.empty())
    lack("model.layers", S.Model.Range);
  need(S.Train, S.Model.Range);
  need(S.Parallel, S.Model.Range);
  if (S.Serve.has_value() != S.Requests.has_value())
    lack(S.Serve ? "requests" : "serve", S.Model.Range);
  if (S.Requests) {
    need(*S.Requests, S.Requests->Range);
    trace();
  }
  if (S.Serve)
    need(*S.Serve, S.Serve->Range);
  if ((S.Draft || S.Lora) && !S.Serve)
    lack("serve", S.Model.Range);
  if (S.Draft)
    draft();
  if (S.Lora)
    need(*S.Lora, S.Lora->Range);
  machine();
  for (const BlockSpec &B : S.Model.Blocks) {
    need(B, B.Range);
    for (const auto &[Keyword, Use] :
         {std::pair("attention", &B.Mixer), std::pair("ffn", &B.Network)})
      if (Use->Kind.empty())
        lack(Keyword, B.Range);
    visitLayerKeys(B, [&](const FieldRow &Row, const auto &F) {
      if (!F.isPresent() && isNeeded(Row.By))
        lack(pathOf(Row), B.Range);
    });
  }
  if (!IsComplete || !IsWhole)
    return;
  routing();
  sizes();
}

/// Ranks along \p Axes, which may be more than 2^63.
static Quantity<struct RankUnit> ranksOf(const Mesh &M,
                                         llvm::ArrayRef<Axis> Axes) {
  Quantity<RankUnit> N(1);
  for (Axis A : Axes)
    N = N * M[A];
  return N;
}

bool SpecVerifier::mesh() {
  Quantity<RankUnit> Dense = ranksOf(M, {Axis::Tp, Axis::Cp, Axis::Dp});
  Quantity<RankUnit> Expert = ranksOf(M, {Axis::Etp, Axis::Ep, Axis::Edp});
  const ParallelSpec &P = S.Parallel;
  if ((Dense * M[Axis::Pp]).isOverflow() || Expert.isOverflow()) {
    Diags.report(P.World.Range, diag::VerifyOverflow, "the number of ranks");
    return false;
  }
  if (HasBlocks && Expert.value() != 1 && Expert != Dense)
    Diags.report(P.World.Range, diag::VerifyViews, Dense.value(),
                 Expert.value());
  if (!IsComplete)
    return true;
  if (P.Vpp.isPresent() && P.Ga.isPresent() && P.MicroBatchGroup.isPresent() &&
      !verifySizes(P, {M[Axis::Pp], *P.Vpp, *P.Ga, *P.MicroBatchGroup}, Diags))
    return false;
  const struct {
    Axis Which;
    const Located<int64_t> &Key;
  } Rows[] = {{Axis::Tp, P.Tp},
              {Axis::Cp, P.Cp},
              {Axis::Dp, M[Axis::DpReplicate] == 1 ? P.Dp : P.DpShard},
              {Axis::Pp, P.Pp}};
  for (const auto &R : Rows)
    if (R.Key.isPresent() && *R.Key != M[R.Which])
      Diags.report(R.Key.Range, diag::VerifyMesh, getName(R.Which), M[R.Which],
                   *R.Key);
  return true;
}

bool foretrace::ir::verifySpec(const Program &P, DiagnosticEngine &Diags) {
  SpecVerifier V(P, Diags);
  // A program above the spec level may lack one, e.g. in a test.
  if (P.level() == Level::Spec || P.Facts.contains(Fact::Complete))
    V.keys();
  return V.mesh();
}
