// SPDX-License-Identifier: Apache-2.0
//
// Estimates of the durations of collectives and of messages between stages, on
// links that nothing else uses, with the parameters of a device's profile
// (`cost estimate`). docs/time.md has the sources of the laws and their errors.
#ifndef FORETRACE_ANALYSIS_COLLECTIVETIMES_H
#define FORETRACE_ANALYSIS_COLLECTIVETIMES_H

#include "analysis/Links.h"
#include "ir/model/Program.h"
#include <map>

namespace foretrace {

/// Within a domain of the innermost tier, a collective of n ranks and S bytes
/// (ir::messageBytes) takes the shorter of start + S f / small and start +
/// switch + S f / large, for the two protocols of NCCL; f is (n - 1) / n, twice
/// that for an all-reduce. Between N domains with p = n / N ranks each, NCCL's
/// ring takes (n - N) inner steps, N - 1 outer steps, and S (n - 1) / n at the
/// rate of the p ranks' share of the network, or of the links within the domain
/// if that is less; an all-reduce twice that. An all-to-all takes the longer of
/// its exchange within the domain and of what leaves it; if domains share
/// copies of tokens (Block::Copies), one copy leaves it for each other domain.
class CollectiveTimes {
public:
  /// \p P has a cluster, and all parameters that findMissing checks.
  explicit CollectiveTimes(const ir::Program &P);

  /// Returns whether the job has collectives of several ranks, or messages.
  static bool communicates(const ir::Program &P);
  /// Returns the first parameter that the collectives or messages of the job
  /// need and it lacks, or null.
  static const ir::KernelParameterInfo *findMissing(const ir::Program &P);

  /// Returns the duration of a collective such as \p O with a message of \p
  /// Size (ir::messageBytes), rounded to the nearest nanosecond.
  /// \p B is its block.
  Nanoseconds timeOf(const ir::Block &B, const ir::Op &O, Bytes Size);
  /// Returns the duration of a message to a rank \p Distance stages later.
  Nanoseconds timeOfMessage(Bytes Size, int64_t Distance);
  /// Returns the place of the group: `8 of 16 ranks in a domain of `nvlink``.
  std::string describe(const ir::Op &O);

private:
  /// The place of a group, or of a message, on the cluster.
  struct Place {
    double OnDomain;  ///< ranks in a domain of the innermost tier, on average
    double OuterRate; ///< of a rank between domains, bytes/s; 0 in one domain
  };
  double of(ir::KernelParameterId Id) const;
  Place placeOf(const LinkSpan &Span, double Ranks) const;
  const Place &placeOf(const ir::Group &G);
  double within(ir::OpKind Kind, double Ranks, double Size) const;
  double exchange(const ir::Block &B, const ir::Op &O, const Place &At,
                  double Size) const;
  double ring(ir::OpKind Kind, double Ranks, const Place &At,
              double Size) const;

  const ir::Program &P;
  LinkMap Links;
  std::map<std::string, Place> Known; ///< by group
};

} // namespace foretrace

#endif
