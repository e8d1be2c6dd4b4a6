// SPDX-License-Identifier: Apache-2.0
//
// The subcommands and options that LLVM's CommandLine knows at run time, as a
// completion script for a shell and as a manual page.
#ifndef FORETRACE_TOOLS_DRIVER_COMMANDLINETEXT_H
#define FORETRACE_TOOLS_DRIVER_COMMANDLINETEXT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace foretrace::driver {

// Of the program \p Name.
void writeBashCompletion(llvm::StringRef Name, llvm::raw_ostream &OS);
void writeZshCompletion(llvm::StringRef Name, llvm::raw_ostream &OS);

/// The part of a manual page that lists the options, a section for each
/// subcommand of \p Name.
void writeManSections(llvm::StringRef Name, llvm::raw_ostream &OS);

} // namespace foretrace::driver

#endif
