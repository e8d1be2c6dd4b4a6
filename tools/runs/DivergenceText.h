// SPDX-License-Identifier: Apache-2.0
//
// What the forms of findings have in common: how ranks, hints and places of
// the job are put into words. Private to the printers.
#ifndef FORETRACE_TOOLS_RUNS_DIVERGENCETEXT_H
#define FORETRACE_TOOLS_RUNS_DIVERGENCETEXT_H

#include "lang/SourceFiles.h"
#include "tools/runs/CheckResult.h"
#include "tools/runs/Hints.h"

namespace foretrace::runs {

/// `0-3, 8`; empty for a terminal, which all share.
std::string ranksOf(const AlikeTraces &F);
/// `rank 3: ` or `ranks 0-3, 8: `; empty for a terminal, which all share.
std::string rankPrefix(const AlikeTraces &F);

/// Text of a trace for lines and cells: control characters and what is no UTF-8
/// as `\1B`, so that no terminal obeys them and no table ends.
std::string printable(llvm::StringRef Text);

std::string describe(const Hint &H);

/// `rank 3 of 4` or `ranks 3 and 9-11 of 16`: those that left nothing.
std::string describeMissing(const CheckSummary &S);

/// As `emit megatron` spells it.
llvm::StringRef dialectOf(const CheckSummary &S);

/// A place of the job.
struct JobPlace {
  std::string File;
  unsigned Line, Column;
  llvm::StringRef Given = {}; ///< `-D key=value`, if it came from there
};

/// Nothing for what stands nowhere.
std::optional<JobPlace> findPlace(const SourceFiles &Sources,
                                  SourceRange Range);
std::string describe(const JobPlace &P);

} // namespace foretrace::runs

#endif
