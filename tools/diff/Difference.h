// SPDX-License-Identifier: Apache-2.0
//
// What differs in meaning between two jobs: keys, messages, numbers.
#ifndef FORETRACE_TOOLS_DIFF_DIFFERENCE_H
#define FORETRACE_TOOLS_DIFF_DIFFERENCE_H

#include "tools/compiler/CompiledJob.h"
#include "tools/diff/Changes.h"
#include "tools/diff/Keys.h"

namespace foretrace::diff {

/// One of two jobs.
struct Side {
  std::string Name;     ///< `job.fore`, `job.fore with parallel.tp=4`
  const ir::Spec &Spec; ///< of the program, or as far as it is stated
  const ir::Program *Program = nullptr; ///< null if the job is refused
  /// What may be compiled again with other keys; null of the IR's text.
  const CompiledJob *Job = nullptr;
  llvm::ArrayRef<Diagnostic> Messages = {};
};

/// A message that only one job has.
struct MessageChange {
  bool IsAfter; ///< of the second job
  const Diagnostic *Of;
};

struct Difference {
  std::vector<KeyChange> Keys;
  std::vector<MessageChange> Messages;
  std::vector<FigureChange> Changes;
  /// What the changes are of.
  Answers Before, After;

  bool isNone() const {
    return Keys.empty() && Messages.empty() && Changes.empty();
  }
};

/// Of programs, what both have the facts for. If one job is refused, there are
/// only keys and messages.
std::unique_ptr<Difference> compare(const Side &Before, const Side &After);

} // namespace foretrace::diff

#endif
