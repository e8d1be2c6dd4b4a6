// SPDX-License-Identifier: Apache-2.0
//
// Finds layouts for a job, by sweeps: over the keys that it leaves open, or
// around the layout that it has.
#pragma once

#include "frontend/Frontend.h"
#include "ir/model/Spec.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <functional>
#include <string>
#include <vector>

namespace foretrace::start {

/// The keys that a search for a layout varies, and their values.
struct LayoutAxes {
  /// A key whose values a sweep evaluates in columns.
  struct Number {
    std::string Key; ///< `parallel.tp`
    std::vector<int64_t> Values;
    /// Indices of those that are tried first; then their neighbors are.
    std::vector<size_t> First;
  };
  /// Keys that are set together, `train.recompute=full`.
  struct Option {
    std::vector<std::string> Overrides;
    /// Whether it is only tried in the neighborhood of good layouts.
    bool IsForRefinement = false;
    /// Whether training has other results with it.
    bool IsLossy = false;

    /// Returns whether it sets \p Key.
    bool sets(llvm::StringRef Key) const;
  };
  std::vector<Number> Numbers;
  /// Choices, each of which selects one option.
  std::vector<std::vector<Option>> Choices;
};

/// Returns the axes of a job: what Megatron-LM and its users vary, without the
/// keys that \p S states.
LayoutAxes axesOf(const ir::Spec &S);

/// Returns the axes around the layout that the job \p S, with what follows, has
/// already: of each choice the first option and of each number the only value
/// that is tried first are the job's. With \p OfMemory also what only saves
/// memory.
LayoutAxes axesAround(const ir::Spec &S, bool OfMemory);

/// A job whose layout is to be found.
struct OpenJob {
  std::string Path; ///< its imports are relative to it
  std::string Text; ///< in place of the file's; empty for a name of a model
  FrontendOptions Options;
  /// Makes the file system that files are read from, for one thread.
  std::function<llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>()> MakeDisk =
      llvm::vfs::getRealFileSystem;
  /// Ends the search without a result once it returns true.
  std::function<bool()> IsCancelled = [] { return false; };
};

/// A point of the search.
struct FoundLayout {
  std::vector<size_t> Options; ///< by choice
  std::vector<size_t> Values;  ///< by number
  /// The keys that it sets, `parallel.tp=4`.
  std::vector<std::string> Overrides;
  int64_t Goal = 0; ///< less is better

  /// The value of a key, empty if it is not set.
  llvm::StringRef find(llvm::StringRef Key) const;
};

struct LayoutRanking {
  std::vector<FoundLayout> Best;   ///< the best first
  int64_t Accepted = 0, Legal = 0; ///< of the layouts that are tried first
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

/// Returns the layouts of \p Job, whose spec is \p S, that fit into a device,
/// or need at most AssumedMemory if its memory is unknown. Those with the least
/// upper bound of the estimated time come first, or those with the fewest FLOPs
/// if the device has no profile.
llvm::Expected<LayoutRanking> findBest(const OpenJob &Job, const ir::Spec &S);

/// Returns the layouts that differ from \p L in one number, by the next value,
/// or in the option of one choice.
std::vector<FoundLayout> variationsOf(const LayoutAxes &Axes,
                                      const FoundLayout &L);

} // namespace foretrace::start
