// SPDX-License-Identifier: Apache-2.0
//
// The log of a run of Optimus-Prime, held against a job.
#ifndef FORETRACE_TOOLS_CHECKLOG_H
#define FORETRACE_TOOLS_CHECKLOG_H

#include "ir/Spec.h"
#include "lang/Diagnostic.h"
#include "tools/foretrace/Commands.h"
#include "tools/runs/Tolerance.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

namespace foretrace {

/// The only file of \p Paths, if it is such a log; null if not.
std::unique_ptr<llvm::MemoryBuffer>
openLog(const std::vector<std::string> &Paths);

/// Prints how \p Log differs from \p Job, as `check` does.
ExitCode checkLog(const ir::Spec &Job, const llvm::MemoryBuffer &Log,
                  const std::vector<runs::Allowance> &Allowed,
                  const llvm::SourceMgr &Sources, DiagnosticEngine &Diags);

} // namespace foretrace

#endif
