// SPDX-License-Identifier: Apache-2.0
//
// Holds the trace of one rank against its skeleton, row by row.
#pragma once

#include "backends/megatron/Skeleton.h"
#include "lang/diagnostics/Runs.h"
#include "tools/runs/RowClock.h"
#include <array>
#include <functional>
#include <map>
#include <set>

namespace foretrace::runs {

/// A difference, and its place.
struct Divergence {
  int64_t Line = 0; ///< of the trace, from 1; 0 for the whole file
  diag::Id Kind = diag::RunMissingRow;
  std::string Text;
  SourceRange Why; ///< what of the job the expectation comes from
  // The following members are empty or 0 for the whole file.
  std::string Op = {}; ///< of the row
  /// The group of the row or call; null if it is unknown.
  const ir::ProcessGroup *Group = nullptr;
  std::string Expected = {}, Seen = {}; ///< of a field
  /// The field as a number or as the sizes of a shape; R is -1.
  llvm::SmallVector<int64_t, 4> ExpectedNumbers = {}, SeenNumbers = {};
  size_t Place = 0; ///< of the row among all that are expected

  bool isOfShape() const {
    return Kind == diag::RunShape || Kind == diag::RunCallShape;
  }
};

/// The rows that a router sent, as the call in line \p Line tells; -1 if it
/// does not.
struct ReceivedRows {
  int64_t Count, Line;
};

/// One rank's trace. Takes rows as they are read and remembers one iteration.
class Matcher {
public:
  using Reporter = std::function<void(Divergence)>;

  /// \p Rows is one iteration of the rank's stage; \p Order is what of the job
  /// their order comes from. A rank can't receive more than \p MaxReceived rows
  /// from a router.
  Matcher(llvm::ArrayRef<megatron::TraceRow> Rows, int64_t Rank,
          SourceRange Order, int64_t MaxReceived, Reporter Report);
  Matcher(const Matcher &) = delete;

  void take(const SeenRow &Seen, int64_t Line);
  /// Skips a line that is no row, though it may be meant as one.
  void skip(int64_t Line) {
    if (Unread.size() < Rows.size()) // more have no row
      Unread.insert(Line);
  }
  /// After the last row.
  void finish();

  int64_t iterations() const { return Iterations; }
  int64_t taken() const { return Taken; }
  /// Returns the line where iteration \p I from 0 begins; the line after the
  /// last row if there are only so many.
  int64_t beginOf(int64_t I) const { return Begins[static_cast<size_t>(I)]; }
  /// Returns the rows that a router sent to this rank: forward calls of all
  /// micro-batches of all iterations, in order.
  llvm::ArrayRef<ReceivedRows> received() const { return Received; }

private:
  void startIteration();
  void endIteration();
  bool beginsAgain(size_t Index, const SeenRow &Seen) const;
  /// A field of a row or of a call, as planned and as seen.
  struct Field {
    diag::Id Kind;
    llvm::StringRef Key, Expected, Seen;
    SourceRange Why;
  };
  void compare(const megatron::TraceRow &Wanted, const SeenRow &Seen);
  void compareCalls(const megatron::TraceRow &Wanted, const SeenRow &Seen);
  void compareCall(const megatron::RowBody &Body,
                   const megatron::SubOperation &Wanted, const SeenCall &Seen,
                   size_t Index);
  /// Reports that \p F, of what \p Of names, differs.
  void differ(const Field &F, const llvm::Twine &Of);
  void differ(diag::Id Kind,
              const std::optional<megatron::LoggedTensor> &Wanted,
              llvm::StringRef Seen, SourceRange Why, const llvm::Twine &Of);
  void compareReceived(const megatron::TraceRow &Wanted,
                       llvm::ArrayRef<ReceivedRows> Counts);
  void checkOrder(size_t Index, int64_t Line);
  void checkTime(const megatron::TraceRow &Wanted, const SeenRow &Seen,
                 bool IsInOrder);
  std::string name(const megatron::TraceRow &R) const;
  /// Puts \p Index and \p Group into what is reported next.
  void goTo(size_t Index, std::optional<megatron::GroupKind> Group);
  void report(diag::Id Kind, const llvm::Twine &Text, SourceRange Why,
              llvm::StringRef Expected = "", llvm::StringRef Seen = "");
  void reportNumbers(diag::Id Kind, const llvm::Twine &Text, SourceRange Why,
                     int64_t Expected, int64_t Seen);

  llvm::ArrayRef<megatron::TraceRow> Rows;
  /// The rows of each kind, by batch.
  std::array<std::vector<size_t>, megatron::NumRowKinds> Places;
  const int64_t Rank;
  const SourceRange Order;
  const int64_t MaxReceived;
  Reporter Report;
  std::vector<int64_t> Lines; ///< of the rows of this iteration; 0 if not seen
  int64_t LastLine = 0;       ///< of the last row taken
  int64_t Before = 0;         ///< of the last row before this iteration
  std::set<int64_t> Unread;   ///< lines of this iteration that are no rows
  std::vector<int64_t> Begins;
  RowClock Clock;
  size_t Next = 0; ///< the row expected now
  /// The last row, if it came before row Next of then.
  struct EarlyRow {
    size_t Index;
    int64_t Line;
    size_t Next;
  };
  std::optional<EarlyRow> Early;
  Divergence Here; ///< where the next one would be
  int64_t Iterations = 0, Taken = 0;
  std::vector<ReceivedRows> Received;
  /// Rows received forward, by micro-batch and chunk.
  std::map<std::pair<int64_t, int64_t>, std::vector<ReceivedRows>> Forward;
};

} // namespace foretrace::runs
