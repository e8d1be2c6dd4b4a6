// SPDX-License-Identifier: Apache-2.0
//
// The options of `emit megatron { ... }`.
#pragma once

#include "backends/megatron/Trace.h"
#include "backends/ranks/RankFiles.h"
#include "ir/model/Spec.h"
#include "lang/Diagnostic.h"

namespace foretrace::megatron {

/// Contents of duration fields.
enum class Durations : unsigned char { Blank, Estimated };

struct Options {
  std::string Dir; ///< empty: the output folder
  Instrumentation How;
  RankList Ranks;
  /// If absent, those of `cost estimate`, if the job has that.
  std::optional<megatron::Durations> Durations;
};

/// Returns whether rows have times. Unless the job asks for times, a trace that
/// is too long for them has none.
bool hasDurations(const Options &O, const ir::Program &P);

} // namespace foretrace::megatron
