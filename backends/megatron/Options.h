// SPDX-License-Identifier: Apache-2.0
//
// The options of `emit megatron { ... }`.
#ifndef FORETRACE_BACKENDS_MEGATRON_OPTIONS_H
#define FORETRACE_BACKENDS_MEGATRON_OPTIONS_H

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
  megatron::Durations Durations = megatron::Durations::Blank;
};

llvm::ArrayRef<EmitOption> optionTable();
Options readOptions(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);

} // namespace foretrace::megatron

#endif
