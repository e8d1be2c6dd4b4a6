// SPDX-License-Identifier: Apache-2.0
//
// Estimates of the durations of collectives and of messages between stages, on
// links that nothing else uses, with the parameters of a device's profile
// (`cost estimate`). docs/time.md has the sources of the laws and their errors.
#pragma once

#include "analysis/LinkLaws.h"
#include "analysis/Links.h"
#include "ir/model/Program.h"
#include <map>

namespace foretrace {

/// The places of groups on the cluster of one job, and times of messages of any
/// size.
class CollectiveTimes {
public:
  /// \p P has a cluster, and all parameters that findMissing checks.
  explicit CollectiveTimes(const ir::Program &P);

  /// Returns whether the job has collectives of several ranks, or messages.
  static bool communicates(const ir::Program &P);
  /// Returns the first parameter that the collectives or messages of the job
  /// need and it lacks, or null.
  static const ir::KernelParameterInfo *findMissing(const ir::Program &P);

  /// Returns the duration of a collective of the ranks of \p G.
  Nanoseconds timeOf(ir::OpKind Kind, const ir::Group &G, double Size);
  /// Returns the duration of a message to a rank \p Distance stages later.
  Nanoseconds timeOfMessage(Bytes Size, int64_t Distance);
  /// Returns the place of the group: `8 of 16 ranks in a domain of `nvlink``.
  std::string describe(const ir::Op &O);

  /// Returns the place of the ranks of \p G.
  LinkPlace placeOf(const ir::Group &G);
  /// Returns the place of a link to the rank \p Distance stages later. Some of
  /// these pairs may be neighbours in a domain; the others decide.
  LinkPlace placeOfMessage(int64_t Distance);

  /// Returns the value of a key of a place (ir::keyOfPlace).
  int64_t numberAt(ir::Key K);

private:
  /// Pairs of ranks, those in one domain of the innermost tier, and the rate of
  /// a rank between domains in bytes/s.
  struct Span {
    int64_t Links = 1, Inner = 1, OuterRate = 0;
  };
  Span spanOf(const LinkSpan &Of) const;
  const Span &spanOf(const ir::Group &G);
  int64_t copiesToDomains(const ir::TokenChoice &Of, const ir::Group &G);

  const ir::Program &P;
  const LinkLaws<BenchmarkNumbers> Laws;
  LinkMap Links;
  std::map<unsigned, Span> Known;        ///< by group
  std::map<int64_t, Span> KnownMessages; ///< by distance
};

/// The laws of LinkLaws.h with the parameters of one job.
class CollectiveLaws {
public:
  /// \p Places are those of \p P.
  CollectiveLaws(ir::ExprScope P, CollectiveTimes &Places)
      : P(P), Places(Places), Laws(JobNumbers(P)) {}

  /// Returns the duration of a collective such as \p O, of block \p B, with a
  /// message of \p Size bytes (ir::messageBytes), in nanoseconds. If domains
  /// share copies of tokens (Block::Copies), one copy of a token leaves its
  /// domain for each other domain.
  ir::Expr timeOf(const ir::Block &B, const ir::Op &O, ir::Expr Size) const;
  /// Returns 1 if the ranks of \p G are in several domains, else 0.
  ir::Expr isSpread(const ir::Group &G) const { return placeOf(G).isSpread(); }

private:
  ir::Expr numberOf(ir::KeyId Id, const ir::Group &G, unsigned Block = 0) const;
  LinkPlaceOf<ir::RealExpr> placeOf(const ir::Group &G) const;
  ir::RealExpr secondsOf(const ir::Block &B, const ir::Op &O,
                         ir::RealExpr Size) const;

  const ir::ExprScope P;
  CollectiveTimes &Places;
  const LinkLaws<JobNumbers> Laws;
};

} // namespace foretrace
