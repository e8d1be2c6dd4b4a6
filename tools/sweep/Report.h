// SPDX-License-Identifier: Apache-2.0
//
// Runs a sweep, and says what came of it.
#ifndef FORETRACE_TOOLS_SWEEP_REPORT_H
#define FORETRACE_TOOLS_SWEEP_REPORT_H

#include "tools/compiler/Compiler.h"
#include "tools/sweep/Database.h"

namespace foretrace::sweep {

/// How a sweep ended.
struct Summary {
  int64_t Points = 0, Accepted = 0;
  std::map<Reason, Rejection> Rejected;

  void add(const Tally &T, int64_t Points);
};

/// Runs what \p DB lacks of \p S, or all if there is none. \p Progress gets
/// each step of the summary.
llvm::Expected<Summary>
runSweep(const Sweep &S, Database *DB, unsigned Threads,
         llvm::function_ref<void(const Summary &)> Progress);

/// What tells the files that a sweep reads from others: of those that its first
/// point reads, of -D, and of which diagnostics are allowed.
std::string digestOf(const Sweep &S);

/// A line.
void printSummary(const Summary &Of, llvm::raw_ostream &OS);
/// A line for each reason, the most frequent first, with the message that the
/// compiler has for one of its points.
void printReasons(const Sweep &S, const Summary &Of, llvm::raw_ostream &OS);

/// Whether \p Job, of a point, can be swept: it is read, or refused for what
/// another point may do better.
bool canBeSwept(const CompiledJob &Job);
/// The job of a point, as the compiler reads it.
CompiledJob &replay(Compiler &Session, const Sweep &S, int64_t Point);
/// The command that compiles it.
std::string commandOf(const Sweep &S, int64_t Point);
/// What the commands of all points begin with; options of the axes follow.
std::string commandOf(const Sweep &S);
/// \p Override, `name=value`, as an option of a command for a shell.
std::string optionOf(llvm::StringRef Override);
/// A line for each metric that the program of a point has.
void printMetrics(const ir::Program &P, llvm::raw_ostream &OS);

} // namespace foretrace::sweep

#endif
