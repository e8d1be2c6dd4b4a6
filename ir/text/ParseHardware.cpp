// SPDX-License-Identifier: Apache-2.0
//
// Reads the sections `cost` and `cluster` of a spec.
#include "ir/text/SpecParser.h"

using namespace foretrace;
using namespace foretrace::ir;

bool SpecParser::time() {
  Token Section;
  ProfileTime T;
  if (!In.expectName("the name of a section or `}`", Section) ||
      !In.text(Section, T.Section) || !In.expectPunct("=") ||
      !In.expectReal(T.Microseconds, ProfileTime::MaxMicroseconds))
    return false;
  T.Range = Section.Range;
  S.Cost.Profile.push_back(std::move(T));
  return true;
}

bool SpecParser::kernel() {
  constexpr double Most = 1e6;
  Token Name;
  std::string Text;
  KernelParameter K;
  if (!In.expectName("the name of a parameter or `}`", Name) ||
      !In.text(Name, Text))
    return false;
  const std::optional<KernelParameterId> Id = findKernelParameter(Text);
  if (!Id)
    return In.unknown(Name, "a parameter of kernels", {});
  K.Id = *Id;
  if (!In.expectPunct("=") || !In.expectReal(K.Value, Most))
    return false;
  K.Range = Name.Range;
  S.Cost.Kernels.push_back(std::move(K));
  return true;
}

bool SpecParser::link() {
  LinkSpec L;
  const Token Key = In.peek();
  if (!In.expectSpelling("an axis", L.Axis))
    return false;
  if (const LinkSpec *Before = S.Cost.findLink(L.Axis))
    return In.twice(Key, "link", Before->Range);
  if (!fields(L))
    return false;
  S.Cost.Links.push_back(L);
  return true;
}

bool SpecParser::cost() {
  return In.expectBraces([this] {
    if (In.takeWord("times"))
      return In.expectBraces([this] { return time(); });
    if (In.takeWord("kernels"))
      return In.expectBraces([this] { return kernel(); });
    if (In.takeWord("device"))
      return fields(S.Cost.Device);
    if (In.takeWord("link"))
      return link();
    return entry("cost", "`times`, `kernels`, `device`, `link`", S.Cost);
  });
}

bool SpecParser::tier() {
  TierSpec T;
  Token Name;
  if (!In.expectName("the name of a tier", Name) || !In.text(Name, T.Name))
    return false;
  T.Range = Name.Range;
  for (const TierSpec &Other : S.Cluster->Tiers)
    if (Other.Name == T.Name)
      return In.twice(Name, "tier", Other.Range);
  if (!fields(T))
    return false;
  S.Cluster->Tiers.push_back(std::move(T));
  return true;
}

bool SpecParser::cluster() {
  Token Name = In.peek();
  if (S.Cluster)
    return In.twice(Name, "cluster", S.Cluster->Range);
  ClusterSpec &C = S.Cluster.emplace();
  if (!Name.isPunct("{") && (!In.expectName("the name of the cluster", Name) ||
                             !In.text(Name, C.Name)))
    return false;
  C.Range = Name.Range;
  return In.expectBraces([this] {
    if (In.takeWord("device"))
      return fields(S.Cluster->Device);
    if (In.takeWord("tier"))
      return tier();
    return entry("cluster", "`device`, `tier`", *S.Cluster);
  });
}
