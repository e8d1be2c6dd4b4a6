// SPDX-License-Identifier: Apache-2.0
//
// The subcommands and options that LLVM's CommandLine knows at run time, as a
// completion script for a shell and as a manual page.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"
#include <vector>

namespace foretrace::driver {

/// Words that can follow an option of a subcommand (of all that have it if
/// Command is empty), or the subcommand itself if Option is empty.
struct CompletionWords {
  llvm::StringRef Command, Option;
  std::vector<llvm::StringRef> Words;
};

/// Lists the words of all options that name a backend, a pass, a list, or a
/// value of an option of `emit` blocks, from the tables that have them; not
/// those that the help has: `<table|json>`.
std::vector<CompletionWords> completionWords();

// Write completions for the program \p Name, with the values in \p Known.
void writeBashCompletion(llvm::StringRef Name,
                         llvm::ArrayRef<CompletionWords> Known,
                         llvm::raw_ostream &OS);
void writeZshCompletion(llvm::StringRef Name,
                        llvm::ArrayRef<CompletionWords> Known,
                        llvm::raw_ostream &OS);

void writeFishCompletion(llvm::StringRef Name,
                         llvm::ArrayRef<CompletionWords> Known,
                         llvm::raw_ostream &OS);

/// The parts of a manual page besides the options.
struct ManPage {
  llvm::StringRef Name, Version;
  llvm::StringRef Summary;    ///< what it does, after a dash
  llvm::StringRef ExitStatus; ///< a paragraph
  /// Variables of the environment, and what they do.
  llvm::ArrayRef<std::pair<llvm::StringRef, llvm::StringRef>> Environment;
  /// A command line for each subcommand.
  llvm::ArrayRef<std::pair<llvm::StringRef, llvm::StringRef>> Examples;
};
/// Writes the page of the subcommand \p Command, or of all, with a section for
/// each. False if there is no such subcommand.
bool writeManPage(const ManPage &Of, llvm::StringRef Command,
                  llvm::raw_ostream &OS);

/// Returns the names of the rows of a table.
template <typename TableT> std::vector<llvm::StringRef> names(TableT &&Rows) {
  std::vector<llvm::StringRef> Names;
  for (const auto &Row : Rows)
    Names.push_back(Row.Name);
  return Names;
}

} // namespace foretrace::driver
