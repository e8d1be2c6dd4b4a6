// SPDX-License-Identifier: Apache-2.0
//
// Runs a sweep, and says what came of it.
#pragma once

#include "tools/sweep/Database.h"
#include "tools/sweep/Verdict.h"
#include <set>

namespace foretrace::sweep {

/// How a sweep ended.
struct Summary {
  explicit Summary(const Sweep &S);

  int64_t Points = 0, Accepted = 0;
  int64_t Unfit = 0; ///< accepted, but more than the memory of a device
  std::map<RejectionCause, Rejection> Rejected;
  /// The points that are kept, unless all are.
  Chooser Kept;
  /// The best of all that are accepted; empty if the sweep has no goal.
  Chooser Best;
  /// By axis: whether it decides anything, as far as is known.
  std::vector<bool> HasEffect;
  bool IsResumed = false; ///< points of another run are in it
  /// If all are kept: the first that were accepted, in order.
  std::set<int64_t> First;
  static constexpr size_t MaxFirst = 20;

  /// Adds a unit of \p Points points; returns those that are not kept any more.
  std::vector<int64_t> add(const Tally &T, int64_t Points);
};

/// Receives the results of a unit; \p Dropped are points, of earlier units or
/// of its own, that are not kept.
using TallyTaker = llvm::function_ref<llvm::Error(
    int64_t Unit, const Tally &T, llvm::ArrayRef<int64_t> Dropped)>;

/// Runs all of \p S but the units \p Done, which are sorted and in \p To, and
/// adds the rest to \p To, until \p Take fails. \p Take gets each unit first.
llvm::Error evaluate(const Sweep &S, llvm::ArrayRef<int64_t> Done,
                     unsigned Threads, Summary &To, TallyTaker Take);

/// Runs what \p DB lacks of \p S, or all if there is none. \p Progress gets
/// each step of the summary.
llvm::Expected<Summary>
runSweep(const Sweep &S, Database *DB, unsigned Threads,
         llvm::function_ref<void(const Summary &)> Progress);

/// Returns a digest of all that a sweep reads: of the files that \p Session has
/// read for it, of -D, and of the diagnostics that are allowed.
std::string digestOf(Compiler &Session, const Sweep &S);

/// Fails if programs would get nothing from `printSummary`: all points are
/// kept, and none is the best.
llvm::Error checkFormat(const Sweep &S, RowFormat As);
/// How points are shown.
struct PointFormat {
  RowFormat As;
  bool IsExact;  ///< numbers for people, too
  bool ShowsAll; ///< to people, even if all are kept
};
/// Prints the number of accepted points and a table of kept points: for people
/// the first ones and the best; for programs only the kept ones, or the best if
/// all are kept.
void printSummary(Compiler &Session, const Sweep &S, const Summary &Of,
                  const PointFormat &Format, llvm::raw_ostream &OS);
/// A line for each reason, the most frequent first, with the message that the
/// compiler has for one of its points; \p Most at most, and how many more.
void printReasons(Compiler &Session, const Sweep &S, const Summary &Of,
                  size_t Most, llvm::raw_ostream &OS);
/// Reports axes that decide nothing.
void reportEffects(const Sweep &S, const Summary &Of, DiagnosticEngine &Diags);

/// Returns whether \p Job, a point, can be swept: it was read, or refused for a
/// reason that other points may lack.
bool canBeSwept(const CompiledJob &Job, const SourceFiles &Sources);

// Caveats of the best point: whether its goal ranks points at all, and what the
// estimate of its time leaves out.

/// Returns the key of the peak rate of which the MFU of a legal job is a share.
std::string peakKeyOf(const Sweep &S, CompiledJob &Job);

/// Prints the caveats of the time of the best point, a line each, if the sweep
/// reads times.
void printCaveats(Compiler &Session, const Sweep &S, const Summary &Of,
                  llvm::raw_ostream &OS);

/// Reports axes that change something that the goal assumes to be constant, and
/// axes whose points tie with the best one because a cost is not modelled, as
/// seen from the best point.
void reportGoal(Compiler &Session, const Sweep &S, const Summary &Of,
                DiagnosticEngine &Diags);

} // namespace foretrace::sweep
