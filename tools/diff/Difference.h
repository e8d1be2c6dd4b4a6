// SPDX-License-Identifier: Apache-2.0
//
// Differences in meaning between two jobs: keys, messages, numbers.
#pragma once

#include "tools/compiler/CompiledJob.h"
#include "tools/diff/Changes.h"
#include "tools/diff/Keys.h"

namespace foretrace::diff {

/// One of two jobs.
struct Side {
  std::string Name;     ///< `job.fore`, `job.fore with parallel.tp=4`
  const ir::Spec &Spec; ///< of the program, or the stated keys
  const ir::Program *Program = nullptr; ///< null if the job is refused
  /// The job, to be compiled with other keys; null for the text of an IR.
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
  /// The figures that were compared.
  Answers Before, After;
  /// The jobs with their largest steps, if they serve; some figures are theirs.
  std::unique_ptr<CompiledJob> LargestBefore, LargestAfter;

  bool isNone() const {
    return Keys.empty() && Messages.empty() && Changes.empty();
  }
};

/// Compares two jobs, in figures for which both programs have the facts. If one
/// job is refused, only keys and messages are compared.
std::unique_ptr<Difference> compare(const Side &Before, const Side &After);

} // namespace foretrace::diff
