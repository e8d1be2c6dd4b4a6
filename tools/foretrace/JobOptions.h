// SPDX-License-Identifier: Apache-2.0
//
// The job of a subcommand: its file, what the command line changes in it, and
// the traces it is held against.
#ifndef FORETRACE_TOOLS_JOBOPTIONS_H
#define FORETRACE_TOOLS_JOBOPTIONS_H

#include "ir/Spec.h"
#include "lang/Diagnostic.h"
#include "lang/SourceFiles.h"
#include "llvm/ADT/ArrayRef.h"
#include <functional>

namespace foretrace {

/// Looks for the shipped library from the path the program was called by.
void findLibrary(const char *ProgramPath);
/// The folder that holds `models/` and `clusters/`.
const std::string &libraryPath();

/// The path of the job; empty if the command line names none.
llvm::StringRef jobPath();
/// What `--trace` names.
std::vector<std::string> givenTraces();

/// Reads the job with `-D` and `-I` applied; nothing after an error. For
/// \p IsOfModel see FrontendOptions.
std::optional<ir::Spec>
readJob(SourceFiles &Sources, DiagnosticEngine &Diags,
        std::function<bool(llvm::ArrayRef<llvm::StringRef>)> IsOfModel = {});

/// The same of the cluster in the file at \p Path.
std::optional<ir::ClusterSpec> readCluster(llvm::StringRef Path,
                                           SourceFiles &Sources,
                                           DiagnosticEngine &Diags);

} // namespace foretrace

#endif
