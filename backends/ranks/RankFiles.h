// SPDX-License-Identifier: Apache-2.0
//
// What backends that write a file for each rank have in common.
#pragma once

#include "backends/Backend.h"
#include "backends/OptionKinds.h"

namespace foretrace {

/// Where the files of a set are.
struct FileNames {
  std::string Dir;  ///< empty: the output folder
  std::string Name; ///< files begin with it; empty: that of the job

  /// Prefix of the files: `name`, or the name of the job.
  llvm::StringRef stem(const EmitRequest &Request) const;
  /// The path of a file of the set, `dir/name.end`.
  std::string path(const EmitRequest &Request, const llvm::Twine &End) const;
};

/// Ranks `First` to `Last`.
struct RankRange {
  int64_t First, Last;
  SourceRange Range;
};
/// Ranks to write; empty: all.
using RankList = std::vector<RankRange>;

namespace option {
/// `all`, `3` or "0,4,8-11".
struct Ranks : KindBase {
  static std::string expected() {
    return "`all`, a rank, or ranks in quotes, \"0,4,8-11\"";
  }
  static llvm::ArrayRef<llvm::StringRef> words();
  static bool read(const ir::Attribute &A, RankList &Into, DiagnosticEngine &);
};
} // namespace option

/// Returns whether a job of \p World ranks has these; reports those beyond.
bool checkRanks(const RankList &Ranks, int64_t World, DiagnosticEngine &Diags);

/// \p Ranks, or all of \p World.
RankList allIfEmpty(const RankList &Ranks, int64_t World);

/// Returns the number of \p Ranks.
double countRanks(const RankList &Ranks);

/// Adds a file for each of \p Ranks, which names some. \p Path and \p Write may
/// be called by several threads at once.
llvm::Error
addRankFiles(OutputSet &Out, const RankList &Ranks,
             llvm::function_ref<std::string(int64_t Rank)> Path,
             llvm::function_ref<void(int64_t Rank, OutputStream &)> Write);

} // namespace foretrace
