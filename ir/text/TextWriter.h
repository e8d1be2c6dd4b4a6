// SPDX-License-Identifier: Apache-2.0
//
// Words, strings, numbers and folded sequences of the text form: what the
// printers of the spec and of the program share.
#pragma once

#include "ir/model/Program.h"
#include "llvm/Support/raw_ostream.h"

namespace foretrace::ir {

/// Returns whether \p C may be in a word; a word starts with a letter or `_`.
bool isWordCharacter(char C);
bool isWord(llvm::StringRef Text);

/// Prints \p Text in quotes. Bytes that are not printable ASCII are escaped
/// as `\xHH`.
void printQuoted(llvm::StringRef Text, llvm::raw_ostream &OS);
/// Prints \p Text as a word if it is one, else in quotes.
void printName(llvm::StringRef Text, llvm::raw_ostream &OS);
/// Prints the shortest decimal that reads back as \p V, never as an integer.
void printReal(double V, llvm::raw_ostream &OS);

/// Prints `N * (a + 2 * b)`; the parentheses and N only where they are needed.
/// \p PrintRun prints one run of \p Runs.
template <typename RunsT, typename FnT>
void printPeriods(int64_t Periods, const RunsT &Runs, llvm::raw_ostream &OS,
                  FnT PrintRun) {
  bool Plain = Periods == 1 && Runs.size() == 1;
  if (Periods != 1)
    OS << Periods << " * ";
  OS << (Plain ? "" : "(");
  llvm::StringRef Separator;
  for (const auto &Run : Runs) {
    OS << Separator;
    if (Run.Count != 1)
      OS << Run.Count << " * ";
    PrintRun(Run);
    Separator = " + ";
  }
  OS << (Plain ? "" : ")");
}

/// Prints layers by the names of their blocks.
void printPattern(const ModelSpec &M, llvm::ArrayRef<LayerRun> Layers,
                  llvm::raw_ostream &OS);
/// Prints the `spec { ... }` section.
void printSpec(const Spec &S, llvm::raw_ostream &OS);
/// Prints the `schedule ... { ... }` section.
void printSchedule(const Schedule &S, llvm::raw_ostream &OS);

} // namespace foretrace::ir
