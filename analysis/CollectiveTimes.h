// SPDX-License-Identifier: Apache-2.0
//
// Estimates of the durations of collectives and of messages between stages, on
// links that nothing else uses, with the parameters of a device's profile
// (`cost estimate`). docs/time.md has the sources of the laws and their errors.
#ifndef FORETRACE_ANALYSIS_COLLECTIVETIMES_H
#define FORETRACE_ANALYSIS_COLLECTIVETIMES_H

#include "analysis/LinkLaws.h"
#include "analysis/Links.h"
#include "ir/model/Program.h"
#include <map>

namespace foretrace {

/// The laws of LinkLaws.h with the parameters of one job. If domains share
/// copies of tokens (Block::Copies), one copy of a token leaves its domain for
/// each other domain.
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
  /// Returns that of a collective of the ranks of \p G.
  Nanoseconds timeOf(ir::OpKind Kind, const ir::Group &G, double Size);
  /// Returns the duration of a message to a rank \p Distance stages later.
  Nanoseconds timeOfMessage(Bytes Size, int64_t Distance);
  /// Returns the place of the group: `8 of 16 ranks in a domain of `nvlink``.
  std::string describe(const ir::Op &O);

  /// Returns the place of the ranks of \p G.
  const LinkPlace &placeOf(const ir::Group &G);
  /// Returns that of a rank and one \p Distance stages later. Some of them may
  /// be neighbours in a domain; the others decide.
  const LinkPlace &placeOfMessage(int64_t Distance);

private:
  LinkPlace placeOf(const LinkSpan &Span, double Ranks) const;
  double exchange(const ir::Block &B, const ir::Op &O, const LinkPlace &At,
                  double Size) const;

  const ir::Program &P;
  const LinkLaws Laws;
  LinkMap Links;
  std::map<std::string, LinkPlace> Known;     ///< by group
  std::map<int64_t, LinkPlace> KnownMessages; ///< by distance
};

} // namespace foretrace

#endif
