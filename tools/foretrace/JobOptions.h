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
/// What `--trace` names.
std::vector<std::string> givenTraces();

/// How the frontend reads it: with `-D` and `-I` applied.
FrontendOptions frontendOptions();
/// The same, with a layout if the job is a model on a cluster and has none.
FrontendOptions jobOptions(Compiler &Session, DiagnosticEngine &Diags);

/// Whether `--print-job` is given.
bool isJobPrinted();
/// Prints the text of the job with the keys that are given or assumed.
ExitCode printJob();

} // namespace foretrace
