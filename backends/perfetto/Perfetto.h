// SPDX-License-Identifier: Apache-2.0
//
// The `perfetto` backend: what ranks do in an iteration as trace events, the
// JSON that Perfetto and chrome://tracing open. It shows the timeline of
// backends/ranks/StepRun.h.
#pragma once

#include "backends/ranks/RankFiles.h"
#include "backends/ranks/StepRun.h"

namespace foretrace::perfetto {

/// Ranks whose tracks are written.
struct DrawnRanks {
  RankList Ranks;        ///< empty: all
  bool IsByStage = true; ///< the first rank of each stage
};

struct Options {
  std::string File; ///< empty: from the job's name
  DrawnRanks Whose;
  std::optional<StepTime> Time; ///< none: that of `bestTimeOf`
  bool HasLayers = false;
};

llvm::ArrayRef<EmitOption> optionTable();
Options readOptions(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
ir::FactSet needs(const Options &O);
bool check(const EmitRequest &Request, const Options &O,
           DiagnosticEngine &Diags);
llvm::Error emit(const EmitRequest &Request, const Options &O, OutputSet &Out);

} // namespace foretrace::perfetto
