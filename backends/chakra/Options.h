// SPDX-License-Identifier: Apache-2.0
//
// The options of `emit chakra { ... }`.
#pragma once

#include "backends/ranks/RankFiles.h"

namespace foretrace::chakra {

/// Ranks whose traces are written.
struct TracedRanks {
  RankList Ranks;
  bool IsByClass = false; ///< one trace for all ranks of a stage
};

struct Options {
  FileNames Files;
  TracedRanks Whose;
  /// Computations without communication between them are one node.
  bool IsFused = false;
  bool HasProvenance = false; ///< nodes say what they are of
};

llvm::ArrayRef<EmitOption> optionTable();
Options readOptions(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);

} // namespace foretrace::chakra
