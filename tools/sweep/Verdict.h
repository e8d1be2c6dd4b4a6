// SPDX-License-Identifier: Apache-2.0
//
// One point of a sweep through the ordinary compiler: what it says, and what
// the sweep then says of it.
#pragma once

#include "tools/compiler/Compiler.h"
#include "tools/sweep/Engine.h"
#include "llvm/Support/raw_ostream.h"

namespace foretrace::sweep {

/// The job of a point, as the compiler reads it; its `emit` blocks may be those
/// of the `sweep` section.
CompiledJob &replay(Compiler &Session, const Sweep &S, int64_t Point,
                    bool EmitsOfSweep = false);

/// Returns digests, by path, of the files on disk that \p Session has read so
/// far, from the \p First one on.
std::map<std::string, std::string> filesRead(Compiler &Session,
                                             unsigned First = 1);

/// The verdict on a point.
struct PointVerdict {
  CompiledJob &Job; ///< with all that was reported
  /// If it is accepted, its metrics in the order of the columns of a database.
  std::vector<int64_t> Metrics;
};
PointVerdict judge(Compiler &Session, const Sweep &S, int64_t Point);

/// A line for each metric that is not 0.
void printMetrics(const Sweep &S, llvm::ArrayRef<int64_t> Metrics, bool IsExact,
                  llvm::raw_ostream &OS);

/// The command that compiles a point.
std::string commandOf(const Sweep &S, int64_t Point);
/// Returns the start of the commands of all points; options of the axes follow.
std::string commandOf(const Sweep &S);
/// \p Override, `name=value`, as an option of a command for a shell.
std::string optionOf(llvm::StringRef Override);

} // namespace foretrace::sweep
