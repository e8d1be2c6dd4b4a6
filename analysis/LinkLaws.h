// SPDX-License-Identifier: Apache-2.0
//
// Laws of collectives and messages: their durations by size and place, on links
// that nothing else uses, with the parameters of a device's profile.
// docs/time.md has the sources of the laws and their errors.
#pragma once

#include "analysis/KernelLaws.h"
#include "ir/model/Ops.h"

namespace foretrace {

/// The place of a group, or of a message, on the cluster. Its numbers are those
/// of measurements, of type double, or of a job, of type ir::RealExpr.
template <typename RealT> struct LinkPlaceOf {
  RealT Ranks;
  RealT OnDomain;  ///< ranks in a domain of the innermost tier, on average
  RealT OuterRate; ///< of a rank between domains, bytes/s; 0 in one domain

  /// Returns whether ranks are in several domains.
  auto isSpread() const {
    using ir::isLess;
    return isLess(OnDomain, Ranks);
  }
};
using LinkPlace = LinkPlaceOf<double>;

/// Durations in seconds. Within a domain of the innermost tier, a collective of
/// n ranks and S bytes (ir::messageBytes) takes the shorter of start + S f /
/// small and start + switch + S f / large, for the two protocols of NCCL; f is
/// (n - 1) / n, twice that for an all-reduce. Between N domains with p = n / N
/// ranks each, NCCL's ring takes (n - N) inner steps, N - 1 outer steps, and S
/// (n - 1) / n at the rate of the p ranks' share of the network, or of the
/// links within the domain if that is less; an all-reduce twice that. An
/// all-to-all takes the longer of its exchange within the domain and of what
/// leaves it.
template <typename NumbersT> class LinkLaws {
public:
  using Real = typename NumbersT::Real;
  using Place = LinkPlaceOf<Real>;

  explicit LinkLaws(NumbersT Numbers) : Of(std::move(Numbers)) {}

  /// Returns the time of a collective or ring with a message of \p Size bytes.
  Real timeOf(ir::OpKind Kind, const Place &At, Real Size) const;
  /// Returns the time of an all-to-all of which \p Inside bytes stay within the
  /// domain and \p Outside leave it.
  Real timeOfExchange(const Place &At, Real Inside, Real Outside) const;
  /// Returns the time of a message from one rank to another.
  Real timeOfMessage(const Place &At, Real Size) const;

private:
  Real within(ir::OpKind Kind, Real Ranks, Real Size) const;
  Real ring(ir::OpKind Kind, const Place &At, Real Size) const;
  Real rateOfMessages(const Place &At) const;

  const NumbersT Of;
};

/// Returns the parameters of a collective within a domain.
std::array<ir::KernelParameterId, 4> parametersOfCollective(ir::OpKind Kind);

} // namespace foretrace
