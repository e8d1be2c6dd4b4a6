// SPDX-License-Identifier: Apache-2.0
//
// Shows the diagnostics of a run on standard error as the options ask.
#pragma once

#include "lang/DiagnosticClient.h"
#include "tools/foretrace/Commands.h"
#include "llvm/Support/Error.h"

namespace foretrace {

/// Returns whether there is to be nothing beside diagnostics on standard error:
/// no progress and no list of written files.
bool isQuiet();

/// Returns an engine that treats warnings as `-W` says.
DiagnosticEngine makeEngine();

/// The client that `--diagnostics` asks for; one for all of the run.
DiagnosticClient &messages();
/// After the last message of the run.
void finishMessages();

/// Shows \p Diags and returns the exit code.
ExitCode showMessages(const DiagnosticEngine &Diags,
                      const SourceFiles &Sources);

/// Runs a command; with --watch again whenever a file that it read changes.
ExitCode runOrWatch(ExitCode (*Run)());

/// Shows \p Text, to people without more: there is nothing to look up.
void showPlain(Severity Level, const std::string &Text);

/// Shows \p E, which no place of the job is to blame for; returns \p Code.
ExitCode failure(llvm::Error E, ExitCode Code);
/// Shows \p E; the code depends on whether the system reported it.
ExitCode failure(llvm::Error E);

/// The words of the command line that say what to do with warnings.
std::vector<std::string> warningWords();

} // namespace foretrace
