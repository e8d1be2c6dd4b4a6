// SPDX-License-Identifier: Apache-2.0
//
// Binds the cluster: its sizes, device and tiers.
#include "frontend/Bind.h"

using namespace foretrace;

void Binder::bindTiers(const Body &Tiers, ir::ClusterSpec &C) {
  for (const Field &F : Tiers.Fields)
    reportUnknownKey(F, "tiers", {}, Diags);
  for (const Body &Sub : Tiers.Sections) {
    ir::TierSpec &T = C.Tiers.emplace_back();
    T.Name = Sub.Keyword.Text;
    T.Range = Sub.Keyword.Range;
    Body Tier = Sub;
    Tier.Keyword.Text = "tier"; // its keys are known by that
    bindKeys(Tier, T);
    requireKeys(Tier.Keyword, T, {&Tier});
  }
}

std::optional<ir::ClusterSpec> Binder::bindCluster() {
  const Body &B = TheJob.Cluster;
  if (B.Keyword.Text.empty())
    return std::nullopt;
  ir::ClusterSpec C;
  C.Name = B.Label.Text;
  C.Range = B.Keyword.Range;
  bindKeys(B, C, {"device", "tiers"}, {"device", "tiers"});
  requireKeys(B.Keyword, C, {&B});
  if (findTable(B, "device", ClusterDevice))
    bindKeys(ClusterDevice, C.Device);
  Body Tiers;
  if (findTable(B, "tiers", Tiers))
    bindTiers(Tiers, C);
  applyDefaults(C);
  return C;
}
