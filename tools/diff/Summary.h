// SPDX-License-Identifier: Apache-2.0
//
// Summary of a program, as far as it is compiled: everything that distinguishes
// it from another one.
#pragma once

#include "backends/figures/Figures.h"

namespace foretrace::diff {

/// Summarizes a program by the facts \p Facts, which it has: the most that a
/// rank has, groups, stages, messages, layers, ops and layouts.
Figures summarize(JobFigures &Of, ir::FactSet Facts);

/// The lines of its text form, without the spec: what else there may be in a
/// program that was written by hand.
Figures listText(const ir::Program &P);

} // namespace foretrace::diff
