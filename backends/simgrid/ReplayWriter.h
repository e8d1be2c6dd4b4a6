// SPDX-License-Identifier: Apache-2.0
//
// The tasks of a rank as actions of SMPI's time-independent traces.
#pragma once

#include "backends/ranks/MessageOptions.h"
#include <map>

namespace foretrace::simgrid {

/// Unit of the amount of a computation.
enum class AmountUnit : unsigned char {
  Time, ///< nanoseconds, for hosts of 1 Gflop/s
  Flops,
};

/// Writes one rank, which does one thing at a time. Messages are begun when the
/// schedule says, and waited for when a task needs them.
class ReplayWriter {
public:
  ReplayWriter(const ir::Program &P, const ir::RankMap &Map, int64_t Rank,
               const ir::MessageRules &Rules, AmountUnit Computations,
               OutputStream &OS);

  void write();

private:
  /// A message under way: what `wait` calls it.
  struct Request {
    int64_t From, To, Tag;
  };

  void task(int64_t Id, const ir::Task &T);
  void collective(const ir::TaskMessages &Of);
  void begin(const ir::TaskMessages &Of, const ir::GroupMessage &M,
             std::vector<Request> &Into);
  void wait(std::vector<Request> &All);
  void waitFor(const ir::Task &T);
  llvm::raw_ostream &line(llvm::StringRef Action);

  const ir::Program &P;
  const ir::RankMap &Map;
  const int64_t Rank;
  const AmountUnit Computations;
  OutputStream &OS;
  ir::RankMessages Messages;
  std::map<int64_t, std::vector<Request>> UnderWay; ///< by task
};

} // namespace foretrace::simgrid
