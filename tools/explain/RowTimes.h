// SPDX-License-Identifier: Apache-2.0
//
// Estimated durations of rows of traces. Private to tools/explain.
#ifndef FORETRACE_TOOLS_EXPLAIN_ROWTIMES_H
#define FORETRACE_TOOLS_EXPLAIN_ROWTIMES_H

#include "backends/megatron/Skeleton.h"
#include "backends/megatron/Timing.h"
#include "tools/explain/Times.h"

namespace foretrace::explain {

/// Makes figures of durations, as backends/megatron estimates them.
class RowTimeMaker {
public:
  /// \p P has costs and links, and stays.
  explicit RowTimeMaker(const ir::Program &P) : P(P), Of(P), Ops(P) {}

  /// Of a row that takes \p Duration: what it does, and the rest, for which it
  /// waits.
  Figure row(const megatron::Row &R, int64_t Duration);
  /// Of a call.
  Figure call(const megatron::SubOperation &C) const;

private:
  Derivation computing(const megatron::Row &R, const ir::Stage &S);
  Derivation transfer(const megatron::Message &M) const;

  const ir::Program &P;
  const megatron::Timing Of;
  TimeMaker Ops;
};

} // namespace foretrace::explain

#endif
