// SPDX-License-Identifier: Apache-2.0
//
// Laws of collectives and messages: their durations by size and place, on links
// that nothing else uses, with the parameters of a device's profile.
// docs/time.md has the sources of the laws and their errors.
#ifndef FORETRACE_ANALYSIS_LINKLAWS_H
#define FORETRACE_ANALYSIS_LINKLAWS_H

#include "analysis/LawParameters.h"
#include "ir/model/Ops.h"

namespace foretrace {

/// The place of a group, or of a message, on the cluster.
struct LinkPlace {
  double Ranks;
  double OnDomain;  ///< ranks in a domain of the innermost tier, on average
  double OuterRate; ///< of a rank between domains, bytes/s; 0 in one domain

  bool isWithin() const { return OnDomain >= Ranks; }
};

/// Durations in seconds. Within a domain of the innermost tier, a collective of
/// n ranks and S bytes (ir::messageBytes) takes the shorter of start + S f /
/// small and start + switch + S f / large, for the two protocols of NCCL; f is
/// (n - 1) / n, twice that for an all-reduce. Between N domains with p = n / N
/// ranks each, NCCL's ring takes (n - N) inner steps, N - 1 outer steps, and S
/// (n - 1) / n at the rate of the p ranks' share of the network, or of the
/// links within the domain if that is less; an all-reduce twice that. An
/// all-to-all takes the longer of its exchange within the domain and of what
/// leaves it.
class LinkLaws {
public:
  explicit LinkLaws(const LawParameters &Of) : Of(Of) {}

  /// The parameters of a collective within a domain.
  static std::array<ir::KernelParameterId, 4> parametersOf(ir::OpKind Kind);

  /// Returns the time of a collective or ring with a message of \p Size bytes.
  double timeOf(ir::OpKind Kind, const LinkPlace &At, double Size) const;
  /// Returns the time of an all-to-all of which \p Inside bytes stay within the
  /// domain and \p Outside leave it.
  double timeOfExchange(const LinkPlace &At, double Inside,
                        double Outside) const;
  /// Returns the time of a message from one rank to another.
  double timeOfMessage(const LinkPlace &At, double Size) const;

private:
  double within(ir::OpKind Kind, double Ranks, double Size) const;
  double ring(ir::OpKind Kind, const LinkPlace &At, double Size) const;
  double rateOfMessages(const LinkPlace &At) const;

  LawParameters Of;
};

} // namespace foretrace

#endif
