// SPDX-License-Identifier: Apache-2.0
//
// What explanations of emitted files have in common. Private to tools/explain.
#ifndef FORETRACE_TOOLS_EXPLAIN_EMITTED_H
#define FORETRACE_TOOLS_EXPLAIN_EMITTED_H

#include "ir/model/Program.h"
#include "llvm/Support/Error.h"

namespace foretrace::explain {

/// The first block of \p Job for \p Backend; one that says nothing if there is
/// none.
ir::EmitSpec firstBlock(const ir::Spec &Job, llvm::StringRef Backend);

/// The first error of \p Diags, which has one, as one of an option.
llvm::Error errorOf(llvm::StringRef Option, const DiagnosticEngine &Diags);

/// Says that there is no such rank, or nothing.
llvm::Error checkRank(const ir::Program &P, int64_t Rank);
/// The stage of a rank that there is.
int64_t stageOf(const ir::Program &P, int64_t Rank);

} // namespace foretrace::explain

#endif
