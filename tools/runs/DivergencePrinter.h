// SPDX-License-Identifier: Apache-2.0
//
// Prints what a check finds: lines for people, objects for programs, SARIF for
// viewers of results.
#ifndef FORETRACE_TOOLS_RUNS_DIVERGENCEPRINTER_H
#define FORETRACE_TOOLS_RUNS_DIVERGENCEPRINTER_H

#include "lang/SourceFiles.h"
#include "tools/runs/CheckResult.h"
#include "tools/runs/Communicators.h"
#include "tools/runs/Hints.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>

namespace foretrace::runs {

/// Is told what is found, what says most first.
class DivergencePrinter {
public:
  virtual ~DivergencePrinter();

  /// Before the first finding: nothing is wrong with the job itself.
  virtual void begin() {}
  virtual void print(const Hint &H) = 0;
  virtual void print(const AlikeTraces &F) = 0;
  virtual void print(const Communicators::First &F);
  /// \p Count more communicators are not printed.
  virtual void omitCommunicators(size_t Count);
  virtual void finish(const CheckSummary &S) = 0;
};

/// Prints to \p OS; places of the job are looked up in \p Sources.
using MakePrinter = std::unique_ptr<DivergencePrinter>(
    const SourceFiles &Sources, llvm::raw_ostream &OS);

/// A line each, and where the job plans it.
MakePrinter makeTextPrinter;
/// An object a line.
MakePrinter makeJSONPrinter;
// A row each.
MakePrinter makeCSVPrinter;
MakePrinter makeMarkdownPrinter;
/// Static Analysis Results Interchange Format, OASIS, version 2.1.0.
MakePrinter makeSarifPrinter;

} // namespace foretrace::runs

#endif
