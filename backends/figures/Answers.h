// SPDX-License-Identifier: Apache-2.0
//
// Figures of a job from all backends that have figures, each with default
// options: for a page, and for the comparison of two jobs.
#pragma once

#include "backends/figures/Figures.h"

namespace foretrace {

/// Figures of one backend.
struct Answer {
  const Backend *From;
  std::optional<Figures> Of; ///< nothing if it refuses the job
  std::string Refusal;       ///< why: the first error
};

/// Returns the answers of all backends that need no more than \p Facts, which
/// the program has, in the order of Backends.def; of a job that serves, of
/// those that know such jobs. \p Largest is the program of its largest step,
/// which must outlive them; without it, \p Of is that program, or nothing that
/// is about this step is answered. \p Where is that of an EmitRequest.
std::vector<Answer>
answersOf(JobFigures &Of, ir::FactSet Facts, const ir::Program *Largest,
          llvm::function_ref<std::string(SourceRange)> Where = nullptr);
/// Facts that all of them need.
ir::FactSet factsOfAnswers();

} // namespace foretrace
