// SPDX-License-Identifier: Apache-2.0
//
// Reports what a check finds as diagnostics, for any client.
#pragma once

#include "lang/DiagnosticClient.h"
#include "tools/runs/CheckResult.h"
#include "tools/runs/Communicators.h"
#include "tools/runs/Hints.h"

namespace foretrace::runs {

/// Is told what is found, what says most first.
class RunReport {
public:
  /// Ranges of the job are of \p Sources.
  RunReport(DiagnosticClient &Out, const SourceFiles &Sources)
      : Out(Out), Sources(Sources) {}

  void add(const Hint &H);
  void add(const AlikeTraces &F);
  void add(const Communicators::First &F);
  /// \p Count more communicators are not reported.
  void omitCommunicators(size_t Count);
  void finish(const CheckSummary &S);

  /// What a client of rows prints.
  static std::vector<RowColumn> columns();

private:
  void show(const Diagnostic &D) { Out.show(D, Sources); }
  void notePlace(Diagnostic &D, SourceRange Why) const;

  DiagnosticClient &Out;
  const SourceFiles &Sources;
};

/// Prints a line for people: what was checked, and how many divergences it has.
void printSummary(const CheckSummary &S, llvm::raw_ostream &OS);
/// The same as one JSON object.
void printSummaryJSON(const CheckSummary &S, llvm::raw_ostream &OS);

} // namespace foretrace::runs
