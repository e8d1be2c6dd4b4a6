// SPDX-License-Identifier: Apache-2.0
//
// The options of `emit megatron { ... }`.
#ifndef FORETRACE_BACKENDS_MEGATRON_OPTIONS_H
#define FORETRACE_BACKENDS_MEGATRON_OPTIONS_H

#include "backends/RankFiles.h"
#include "backends/megatron/Trace.h"
#include "ir/Spec.h"
#include "lang/Diagnostic.h"

namespace foretrace::megatron {

struct Options {
  std::string Dir; ///< empty: the output folder
  Instrumentation How;
  RankList Ranks;
  bool HasDurations = false; ///< estimated, not blank
  SourceRange DurationsRange;
};

/// Reads the options of \p Emit; reports what is unknown or wrong.
Options readOptions(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);

} // namespace foretrace::megatron

#endif
