// SPDX-License-Identifier: Apache-2.0
//
// Holds the trace of one rank against its skeleton, row by row.
#ifndef FORETRACE_BACKENDS_MEGATRON_MATCHER_H
#define FORETRACE_BACKENDS_MEGATRON_MATCHER_H

#include "backends/megatron/Skeleton.h"
#include "backends/megatron/TraceReader.h"
#include "lang/Source.h"
#include "llvm/ADT/StringMap.h"
#include <functional>
#include <map>

namespace foretrace::megatron {

/// What is different, in words for a message and a name for programs.
struct Divergence {
  int64_t Line = 0; ///< of the trace, from 1; 0 for the whole file
  llvm::StringRef Kind;
  std::string Text;
  SourceRange Expected; ///< what the expectation comes from
};

/// One rank's trace. Takes rows as they are read and remembers one iteration.
class Matcher {
public:
  using Reporter = std::function<void(Divergence)>;

  /// \p Rows is one iteration of the rank's stage; \p Order is what of the job
  /// their order comes from. A rank can't receive more than \p MaxReceived rows
  /// from a router.
  Matcher(llvm::ArrayRef<Row> Rows, int64_t Rank, SourceRange Order,
          int64_t MaxReceived, Reporter Report);

  void take(const SeenRow &Seen, int64_t Line);
  /// After the last row.
  void finish(int64_t Lines);

  int64_t iterations() const { return Iterations; }
  int64_t taken() const { return Taken; }
  /// Rows that a router sent to this rank: in order, forward calls of all
  /// micro-batches of the last iteration.
  llvm::ArrayRef<int64_t> received() const { return Received; }

private:
  void startIteration();
  void endIteration(int64_t Line);
  bool beginsAgain(size_t Index) const;
  void compare(const Row &Wanted, const SeenRow &Seen, int64_t Line);
  void compareCalls(const Row &Wanted, const SeenRow &Seen, int64_t Line);
  void compareCall(const RowBody &Body, const SubOperation &Wanted,
                   const SeenCall &Seen, size_t Index, int64_t Line);
  void compareReceived(const RowBody &Body, const SeenRow &Seen,
                       llvm::StringRef Shape, int64_t Line);
  void checkTime(const SeenRow &Seen, int64_t Line);
  std::string name(const Row &R) const;
  void report(int64_t Line, llvm::StringRef Kind, const llvm::Twine &Text,
              SourceRange Expected);

  llvm::ArrayRef<Row> Rows;
  llvm::StringMap<std::vector<size_t>> Places; ///< of op's rows, by batch
  const int64_t Rank;
  const SourceRange Order;
  const int64_t MaxReceived;
  Reporter Report;
  std::vector<bool> IsSeen;
  size_t Next = 0; ///< the row expected now
  int64_t Iterations = 0, Taken = 0;
  double LastTime = 0;
  std::vector<int64_t> Received;
  /// By micro-batch: rows received forward and not yet backward.
  std::map<int64_t, std::vector<int64_t>> Forward;
};

} // namespace foretrace::megatron

#endif
