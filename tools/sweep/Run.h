// SPDX-License-Identifier: Apache-2.0
//
// A whole sweep: its points, its database, its files and its page.
#pragma once

#include "tools/sweep/EmitPoints.h"
#include "tools/sweep/Plot.h"
#include "tools/sweep/Report.h"

namespace foretrace::sweep {

/// Outputs of a sweep, and how it is shown.
struct RunOptions {
  std::string Output;               ///< database; empty: none
  std::optional<PlotColumns> Drawn; ///< page
  std::optional<EmitPointsOptions> Emitted;
  InputFiles Inputs; ///< which nothing replaces
  unsigned Threads;
  bool ShowsJson, IsQuiet;
  RowFormat Format; ///< of points
  bool IsExact;     ///< numbers for people, too
  bool ShowsReasons;
  OutputOptions Writing; ///< of the page
};

/// Reads the first point of \p S, and sets what all points share. Returns its
/// job, which has the errors, if the sweep can't begin, else null. \p
/// ChecksBlocks: the `emit` blocks of the sweep, too.
CompiledJob *begin(Compiler &Session, Sweep &S, bool ChecksBlocks);

/// Runs \p S and prints what came of it. Sentences go to standard error if the
/// points are for programs. Returns how many points are accepted.
llvm::Expected<int64_t> runAndShow(Compiler &Session, const Sweep &S,
                                   RunOptions How, DiagnosticEngine &Diags);

/// Questions about a finished sweep.
struct FileQuestions {
  std::string File;                            ///< the database
  std::string Query;                           ///< SQL; empty: none
  std::vector<std::string> Minimize, Maximize; ///< columns
  bool TakesUnfit; ///< the best may exceed the memory of its devices
  std::optional<PlotColumns> Drawn;
  RowFormat Format; ///< of answers
  OutputOptions Writing;
};

/// Prints the answers, and writes the page.
llvm::Error answerFromFile(const FileQuestions &Of);

} // namespace foretrace::sweep
