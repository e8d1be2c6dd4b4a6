// SPDX-License-Identifier: Apache-2.0
//
// Results of a sweep, in a file of SQLite that any client reads, also while the
// sweep runs (docs/sweeps.md has the tables). A unit is written in one
// transaction: whenever a sweep ends, the file is whole, and the same sweep
// resumes from it.
#pragma once

#include "lang/RowWriter.h"
#include "tools/output/InputFiles.h"
#include "tools/sweep/Connection.h"
#include "tools/sweep/Engine.h"
#include "tools/sweep/WriteLock.h"
#include "llvm/Support/raw_ostream.h"

namespace foretrace::sweep {

/// An error if the database at \p Path, a file that it has beside it for a
/// time, or its page would replace an input.
llvm::Error checkOutput(const InputFiles &Inputs, llvm::StringRef Path,
                        bool HasPage = false);

/// Figures that a script of a point printed.
struct ScriptResult {
  int64_t Id;         ///< of the point
  std::string Script; ///< its path in the folder of the point
  /// By name: `ns` is the simulated time, and other names end in their unit.
  std::vector<std::pair<std::string, double>> Figures;
};

class Database {
public:
  /// Opens the file at \p Path for \p S; makes it if there is none. An error if
  /// it is another sweep's, or another process writes to it.
  static llvm::Expected<Database> open(llvm::StringRef Path, const Sweep &S);
  /// Opens what a sweep wrote, to be read.
  static llvm::Expected<Database> openExisting(llvm::StringRef Path);
  /// Opens what a sweep wrote, to add results of simulators.
  static llvm::Expected<Database> openToCollect(llvm::StringRef Path);
  /// Makes the file at \p To of those that the shards of a sweep wrote. An
  /// error if a shard is missing, not done, or there twice, or of another
  /// sweep; then there is no file.
  static llvm::Error merge(llvm::ArrayRef<std::string> Shards,
                           llvm::StringRef To);

  /// Units of \p S that are in it, sorted. An error if points of them are not.
  llvm::Expected<std::vector<int64_t>> done(const Sweep &S);
  /// After the last unit: from now on it is one file, which can be read where
  /// nothing can be written.
  void seal();
  /// Writes \p T without the points \p Dropped, which are also removed from the
  /// file.
  llvm::Error write(int64_t Unit, const Tally &T,
                    llvm::ArrayRef<int64_t> Dropped);

  /// Adds the points that are there to \p To; returns those that are not kept.
  llvm::Expected<std::vector<int64_t>> choose(Chooser &To);
  /// The best points of all units, less is better.
  llvm::Expected<std::vector<Chooser::Point>> best();
  /// The points that are kept, in order.
  llvm::Expected<std::vector<int64_t>> kept();
  /// Adds results of scripts, in place of earlier ones of the same scripts.
  llvm::Error addResults(llvm::ArrayRef<ScriptResult> Results);

  /// Points that are accepted, and rejected, so far.
  llvm::Expected<int64_t> accepted();
  /// The number of accepted points that do not fit into the memory of a device.
  llvm::Expected<int64_t> unfit();
  llvm::Expected<std::map<RejectionCause, Rejection>> rejections();
  /// Prints the point with the least in \p Column, or the most if \p IsMost,
  /// the first of several; one that does not fit only if \p TakesUnfit.
  llvm::Error printBest(llvm::StringRef Column, bool IsMost, bool TakesUnfit,
                        RowFormat Format, llvm::raw_ostream &OS);
  /// Prints the rows of \p SQL, which changes nothing.
  llvm::Error query(llvm::StringRef SQL, RowFormat Format,
                    llvm::raw_ostream &OS);

private:
  explicit Database(Connection C) : C(std::move(C)) {}
  llvm::Error create(const Sweep &S);
  llvm::Error checkSame(const Sweep &S);
  llvm::Error checkMetrics(const Sweep &S);
  llvm::Error checkFiles();
  llvm::Error writeRows(int64_t Unit, const Tally &T,
                        llvm::ArrayRef<int64_t> Dropped);
  llvm::Error writeResults(llvm::ArrayRef<ScriptResult> Results);
  /// Does all of \p Change, or nothing if it fails.
  llvm::Error inTransaction(llvm::function_ref<llvm::Error()> Change);

  std::optional<WriteLock> Lock; ///< of one that is written
  Connection C;
  SqlStatement AddPoint, AddRejection, AddUnit, DropPoint, AddFile;
};

/// Adds the points of the table `metrics` to \p To; returns those that are not
/// kept.
llvm::Expected<std::vector<int64_t>> chooseRows(Connection &C, Chooser &To);

} // namespace foretrace::sweep
