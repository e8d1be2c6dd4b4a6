// SPDX-License-Identifier: Apache-2.0
//
// Durations of ops and their derivation. Nothing else reads a job's `cost`. The
// `cost` pass stores the times in the program; `foretrace explain` prints the
// derivation.
#pragma once

#include "ir/model/Measure.h"

namespace foretrace {

class CollectiveTimes;

/// The derivation of a time.
enum class TimeRule : unsigned char {
  None,       ///< 0: nothing defines the time of the op
  Section,    ///< a measured time
  Share,      ///< a share of a measured time, by FLOPs
  EqualPart,  ///< an equal share of a measured time, if no op has FLOPs
  PerMillion, ///< a measured time per million parameters
  Roofline,   ///< the larger of FLOPs by peak and bytes by bandwidth
  Estimate,   ///< a law of the op's kernel (KernelTimes.h)
  Collective, ///< a law of collectives (CollectiveTimes.h)
};

struct OpTime {
  TimeRule By = TimeRule::None;
  Nanoseconds Time;
  /// The measured value; empty for a roofline and an estimate.
  const ir::ProfileTime *Measured = nullptr;
  /// For PerMillion: parameters that one rank updates.
  ir::ElementExpr Parameters = {};
  /// For Roofline and Estimate: bytes that the op reads and writes.
  ir::ByteExpr Touched = {};
  ir::TimeExpr Law = {}; ///< for Estimate and Collective
};

/// Returns the time of every op of \p B, in order; their total work is less
/// than 2^63. Ops that share a measured time get parts whose sum is exactly
/// that time. Ops without a measured time take none. \p P receives new sizes.
/// \p Places are those of \p P; null without a cluster, where no collectives
/// are timed.
std::vector<OpTime> timesOf(ir::ExprScope P, const ir::Block &B,
                            CollectiveTimes *Places);

/// Returns the key of the rate that bounds the arithmetic of \p O with `cost
/// roofline`: that for the type of its operands, if it is a product in
/// compute_precision.
const ir::DeviceSpec::Peak &peakOf(const ir::Block &B, const ir::Op &O);

/// Returns the time of \p Amount, of FLOPs or bytes, at a rate per second,
/// rounded up.
Nanoseconds timeAtRate(int64_t Amount, int64_t PerSecond);
/// Returns a time in seconds, which is at least 0, rounded to the nearest
/// nanosecond; an overflow from 2^62 ns on.
Nanoseconds roundedTime(double Seconds);

/// Returns the compute ops of one pass through \p B, which share a measured
/// time, in order. A backward pass includes the recomputed ops.
std::vector<const ir::Op *> sharersOf(const ir::Block &B, bool IsBackward);
/// Returns the name of that time in `cost calibrated`: `forward.layer`.
std::string nameOfShared(const ir::Block &B, bool IsBackward);

/// Returns the name of the time of \p O in `cost profile`; empty if it has
/// none.
llvm::StringRef sectionOf(const ir::Op &O);
/// Returns all sections that define the time of some op.
llvm::ArrayRef<llvm::StringLiteral> allSections();

} // namespace foretrace
