// SPDX-License-Identifier: Apache-2.0
//
// What backends that write a file for each rank have in common.
#ifndef FORETRACE_BACKENDS_RANKFILES_H
#define FORETRACE_BACKENDS_RANKFILES_H

#include "backends/Backend.h"

namespace foretrace {

/// Ranks `First` to `Last`.
struct RankRange {
  int64_t First, Last;
  SourceRange Range;
};
/// Which ranks are written; empty: all.
using RankList = std::vector<RankRange>;

/// Reads an option like `ranks = all`, `3` or "0,4,8-11". \p Words are what a
/// message says can be written in place of numbers.
void readRanks(const ir::NamedAttribute &Option, RankList &Into,
               DiagnosticEngine &Diags, llvm::StringRef Words = "`all`");

/// Whether a job of \p World ranks has them; reports those it has not.
bool checkRanks(const RankList &Ranks, int64_t World, DiagnosticEngine &Diags);

/// \p Ranks, or all of \p World.
RankList allIfEmpty(const RankList &Ranks, int64_t World);

/// Adds a file for each of \p Ranks, which names some. \p Path and \p Write may
/// be called by several threads at once.
llvm::Error
addRankFiles(OutputSet &Out, const RankList &Ranks,
             llvm::function_ref<std::string(int64_t Rank)> Path,
             llvm::function_ref<void(int64_t Rank, llvm::raw_ostream &)> Write);

} // namespace foretrace

#endif
