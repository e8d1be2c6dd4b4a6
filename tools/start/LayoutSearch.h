// SPDX-License-Identifier: Apache-2.0
//
// Finds layouts for a job, by sweeps: over the keys that it leaves open, or
// around the layout that it has.
#pragma once

#include "frontend/Frontend.h"
#include "tools/start/LayoutAxes.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <functional>

namespace foretrace::start {

/// A job whose layout is to be found.
struct OpenJob {
  std::string Path; ///< its imports are relative to it
  std::string Text; ///< in place of the file's; empty for a name of a model
  FrontendOptions Options;
  /// Makes what files come from, for one thread.
  std::function<llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>()> MakeDisk =
      llvm::vfs::getRealFileSystem;
  /// Ends the search, without what it looks for, once it returns true.
  std::function<bool()> IsCancelled = [] { return false; };
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

/// Returns the layouts that are found around \p Start, in a few steps: those
/// that satisfy \p Where, and have the least \p Metric, first.
std::vector<FoundLayout> findAround(const OpenJob &Job, const LayoutAxes &Axes,
                                    const FoundLayout &Start,
                                    llvm::StringRef Where,
                                    llvm::StringRef Metric);

/// Returns the first error of \p Diags as one.
llvm::Error firstError(const DiagnosticEngine &Diags);

/// Returns whether the time of a job with a layout can be estimated.
bool canBeTimed(const ir::Spec &S);

/// A compiled job, and figures of its ranks with most; INT64_MAX where they
/// overflow.
struct MeasuredJob {
  ir::Spec Spec; ///< with what follows
  int64_t Peak = 0, Work = 0, Messages = 0;
  int64_t Host = 0;                   ///< bytes over the link to the host
  std::optional<int64_t> Time, Upper; ///< nanoseconds, if they are estimated
  std::vector<diag::Id> Told;
};
/// Compiles \p Job with further \p Overrides.
llvm::Expected<MeasuredJob> measureJob(const OpenJob &Job,
                                       llvm::ArrayRef<std::string> Overrides);

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
