// SPDX-License-Identifier: Apache-2.0
//
// The options of `emit chakra { ... }`.
#ifndef FORETRACE_BACKENDS_CHAKRA_OPTIONS_H
#define FORETRACE_BACKENDS_CHAKRA_OPTIONS_H

#include "backends/RankFiles.h"

namespace foretrace::chakra {

struct Options {
  FileNames Files;
  RankList Ranks;
  bool IsByClass = false;     ///< one trace for all ranks of a stage
  bool HasProvenance = false; ///< nodes say what they are of
};

/// Reads the options of \p Emit; reports what is unknown or wrong.
Options readOptions(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);

} // namespace foretrace::chakra

#endif
