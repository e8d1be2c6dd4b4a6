// SPDX-License-Identifier: Apache-2.0
//
// Prints what `check` finds: lines for people, objects for programs, SARIF for
// viewers of results.
#ifndef FORETRACE_TOOLS_DIVERGENCEPRINTER_H
#define FORETRACE_TOOLS_DIVERGENCEPRINTER_H

#include "tools/runs/Communicators.h"
#include "tools/runs/Hints.h"
#include "llvm/Support/SourceMgr.h"
#include <memory>

namespace foretrace {

/// What was checked, for the last line.
struct CheckSummary {
  int64_t Ranks = 0, World = 0, Rows = 0, Iterations = 0;
  megatron::Instrumentation How;
  int64_t Divergences = 0, Tolerated = 0;
  bool IsLog = false; ///< of one terminal, not traces of ranks
};

/// Traces that differ alike, line by line.
struct Finding {
  std::vector<runs::TraceFile> Traces;       ///< by rank; at least one
  std::vector<runs::Divergence> Divergences; ///< the first of each trace
  size_t Omitted = 0;                        ///< more of each trace
};

class DivergencePrinter {
public:
  virtual ~DivergencePrinter();

  /// As `--format` asks, to standard output. Places of the job are looked up in
  /// \p Sources.
  static std::unique_ptr<DivergencePrinter>
  create(const llvm::SourceMgr &Sources);

  virtual void print(const runs::Hint &H) = 0;
  virtual void print(const Finding &F) = 0;
  virtual void print(const runs::Communicators::First &F);
  /// \p Count more communicators are not printed.
  virtual void omitCommunicators(size_t Count);
  virtual void finish(const CheckSummary &S) = 0;
};

} // namespace foretrace

#endif
