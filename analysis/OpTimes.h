// SPDX-License-Identifier: Apache-2.0
//
// How long ops take, and why: the one place that reads a job's `cost`. The
// `cost` pass puts the times into the program; `foretrace explain` says why.
#ifndef FORETRACE_ANALYSIS_OPTIMES_H
#define FORETRACE_ANALYSIS_OPTIMES_H

#include "ir/model/Measure.h"

namespace foretrace {

/// What a time is made of.
enum class TimeRule : unsigned char {
  None,       ///< it is 0: nothing times the op
  Section,    ///< a measured time
  Share,      ///< a part of one, by work
  EqualPart,  ///< a part of one that no op has work in
  PerMillion, ///< a measured time for a million parameters
  Roofline,   ///< the larger of work by the peak, and bytes by the bandwidth
};

struct OpTime {
  TimeRule By = TimeRule::None;
  Nanoseconds Time;
  /// What was measured; of a roofline none.
  const ir::ProfileTime *Measured = nullptr;
  /// Of PerMillion: parameters that one rank updates.
  ir::ElementExpr Parameters = {};
  /// Of Roofline: bytes that the op reads and writes.
  ir::ByteExpr Touched = {};
};

/// Of every op of \p B, in order; the work of all is less than 2^63. Ops that
/// share a measured time get parts that add up to it exactly. What a job
/// leaves unmeasured takes no time. \p P takes in sizes.
std::vector<OpTime> timesOf(ir::ExprScope P, const ir::Block &B);

/// What \p Amount, of FLOPs or bytes, takes at a rate for a second, rounded up.
Nanoseconds timeAtRate(int64_t Amount, int64_t PerSecond);

/// The compute ops of one pass through \p B, which share a measured time, in
/// order; a pass backward has those that are computed again.
std::vector<const ir::Op *> sharersOf(const ir::Block &B, bool IsBackward);
/// What `cost calibrated` calls that time: `forward.layer`.
std::string nameOfShared(const ir::Block &B, bool IsBackward);

/// What `cost profile` calls the time of \p O; empty if it has none.
llvm::StringRef sectionOf(const ir::Op &O);
/// All sections that time some op.
llvm::ArrayRef<llvm::StringLiteral> allSections();

} // namespace foretrace

#endif
