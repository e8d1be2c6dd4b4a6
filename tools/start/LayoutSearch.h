// SPDX-License-Identifier: Apache-2.0
//
// Finds a layout for a job that has none yet: sweeps over the keys that it
// leaves open.
#ifndef FORETRACE_TOOLS_START_LAYOUTSEARCH_H
#define FORETRACE_TOOLS_START_LAYOUTSEARCH_H

#include "frontend/Frontend.h"
#include "tools/start/LayoutAxes.h"
#include "llvm/Support/Error.h"

namespace foretrace::start {

/// A job without a layout.
struct OpenJob {
  std::string Path; ///< its imports are relative to it
  std::string Text; ///< in place of the file's; empty for a name of a model
  FrontendOptions Options;
};

/// A point of the search.
struct FoundLayout {
  std::vector<size_t> Options; ///< by choice
  std::vector<size_t> Values;  ///< by number
  /// What it sets, `parallel.tp=4`.
  std::vector<std::string> Overrides;
  int64_t Goal = 0; ///< less is better

  /// The value of a key, empty if it is not set.
  llvm::StringRef find(llvm::StringRef Key) const;
};

struct LayoutRanking {
  std::vector<FoundLayout> Best;   ///< the best first
  int64_t Accepted = 0, Legal = 0; ///< of those that are tried first
};

/// Returns the layouts with the least \p Metric of those that satisfy \p Where;
/// none if there are none. An error says why no layout is legal.
llvm::Expected<LayoutRanking> findLayouts(const OpenJob &Job,
                                          const LayoutAxes &Axes,
                                          llvm::StringRef Where,
                                          llvm::StringRef Metric);

/// Device memory assumed for a job without a cluster.
inline constexpr llvm::StringLiteral AssumedMemory = "80 GB";

/// Returns the first error of \p Diags as one.
llvm::Error firstError(const DiagnosticEngine &Diags);

/// Returns whether the time of a job with a layout can be estimated.
bool canBeTimed(const ir::Spec &S);

/// Returns the layouts of \p Job, of which \p S was read, that fit into a
/// device, or need at most AssumedMemory where its memory is not known: those
/// with the least upper end of the estimated time first, or with the fewest
/// FLOPs if the device has no profile.
llvm::Expected<LayoutRanking> findBest(const OpenJob &Job, const ir::Spec &S);

/// Returns the layouts that differ from \p L in one number, by the next value,
/// or in the option of one choice.
std::vector<FoundLayout> variationsOf(const LayoutAxes &Axes,
                                      const FoundLayout &L);

} // namespace foretrace::start

#endif
