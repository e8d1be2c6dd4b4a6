// SPDX-License-Identifier: Apache-2.0
//
// The tasks of a rank as operations of GOAL.
#pragma once

#include "backends/ranks/MessageOptions.h"
#include <map>

namespace foretrace::goal {

/// Writes one rank. The operation that ends task 7 is `t7`; what comes before
/// it in the task is `t7_0`, `t7_1` and so on. Where many messages wait for
/// much, `t7_in` does that for them.
class GoalWriter {
public:
  GoalWriter(const ir::Program &P, const ir::RankMap &Map, int64_t Rank,
             const ir::MessageRules &Rules, OutputStream &OS);

  void write();

private:
  using Ids = llvm::SmallVector<int64_t, 8>;
  /// An operation of a task: the last one, or the one before the messages, or a
  /// message.
  struct Label {
    static constexpr int64_t End = -1, Entry = -2;
    int64_t Task;
    int64_t Part = End;
  };

  void task(int64_t Id, const ir::Task &T);
  void communicate(int64_t Id, const ir::TaskMessages &Of,
                   llvm::ArrayRef<int64_t> Before);
  void message(const Label &L, const ir::TaskMessages &Of,
               const ir::GroupMessage &M);
  void join(const Label &L);
  void name(const Label &L);
  void require(const Label &L, const Label &Before);
  void requireTasks(const Label &L, llvm::ArrayRef<int64_t> Before);
  Ids needs(const ir::Task &T) const;

  const ir::Program &P;
  const ir::RankMap &Map;
  const int64_t Rank;
  OutputStream &OS;
  ir::RankMessages Messages;
  std::vector<bool> Computes; ///< by task
  /// What sends that nobody waits for wait for themselves: what follows them
  /// may begin then. (`irequires` would say it, but LogGOPSim goes back in
  /// time.)
  std::map<int64_t, Ids> LeftAlone;
};

} // namespace foretrace::goal
