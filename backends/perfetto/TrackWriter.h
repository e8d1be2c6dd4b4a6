// SPDX-License-Identifier: Apache-2.0
//
// The track of one rank: its slices, one after the other, and what is in them.
// Private to the backend.
#pragma once

#include "backends/ranks/StepRun.h"
#include "ir/model/Ranks.h"
#include "ir/ranks/StepOps.h"
#include <map>

namespace foretrace::perfetto {

/// Writes trace events (Trace Event Format: `M` names, `X` slices whose times
/// are microseconds).
class TrackWriter {
public:
  /// \p Request is checked, and stays.
  TrackWriter(const EmitRequest &Request, StepTime Time, bool HasLayers);

  /// The events of a rank of stage \p Stage, without a comma at the end.
  void write(int64_t Rank, int64_t Stage, llvm::raw_ostream &OS);

private:
  /// Time of a layer in a step; recomputation comes first.
  struct LayerTime {
    int64_t Recomputed = 0, Rest = 0;
  };
  using Actions = llvm::ArrayRef<ir::Action>;

  void name(llvm::StringRef What, llvm::StringRef Name, llvm::raw_ostream &OS);
  void span(const ir::Timeline::Span &Of, llvm::raw_ostream &OS);
  void slice(llvm::StringRef Name, llvm::StringRef Category, int64_t Start,
             int64_t End, llvm::StringRef Args, llvm::raw_ostream &OS);
  std::string argsOf(Actions Of) const;
  void layers(const ir::Action &Of, int64_t Start, llvm::raw_ostream &OS);
  void step(int64_t Start, llvm::raw_ostream &OS);
  LayerTime timeOf(ir::BlockId Block, ir::ActionKind Step);

  const EmitRequest &Request;
  const ir::Program &P;
  const StepTime Time;
  const bool HasLayers;
  const ir::Timeline Run;
  std::map<std::pair<unsigned, ir::ActionKind>, LayerTime> Known;
  int64_t Rank = 0, Stage = 0; ///< of the track that is written
};

} // namespace foretrace::perfetto
