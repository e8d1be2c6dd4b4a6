// SPDX-License-Identifier: Apache-2.0
//
// The job of a subcommand: its file, what the command line changes in it, and
// the traces it is held against.
#pragma once

#include "tools/compiler/Compiler.h"
#include "tools/foretrace/Commands.h"

namespace foretrace {

/// The path of the job; empty if the command line names none.
llvm::StringRef jobPath();
/// Returns the paths that `--trace` names.
std::vector<std::string> givenTraces();

/// Returns options for the frontend, with those of `-D` and `-I`.
FrontendOptions frontendOptions();
/// Adds a layout to frontendOptions() if the job is a model on a cluster.
FrontendOptions jobOptions(Compiler &Session, DiagnosticEngine &Diags);

/// Returns whether `--print-job` is given.
bool isJobPrinted();
/// Prints the text of the job with the keys that are given or assumed.
ExitCode printJob();

} // namespace foretrace
