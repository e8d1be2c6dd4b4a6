// SPDX-License-Identifier: Apache-2.0
//
// Follows a shell script without running anything: variables are set, and
// commands of other programs are only noted.
#ifndef FORETRACE_TOOLS_IMPORTERS_SHELL_SHELLRUN_H
#define FORETRACE_TOOLS_IMPORTERS_SHELL_SHELLRUN_H

#include "lang/Diagnostic.h"
#include "tools/importers/shell/ShellSyntax.h"
#include "tools/importers/shell/ShellWords.h"

namespace foretrace::importers::shell {

class Follower {
public:
  /// \p Open gives the text of a script that another one reads.
  Follower(State &S, DiagnosticEngine &Diags,
           std::function<std::optional<Traced>(llvm::StringRef)> Open)
      : S(S), Diags(Diags), Open(std::move(Open)),
        Words(S, [this](llvm::StringRef Script) { return output(Script); }) {}

  void follow(Traced Script);
  /// The commands of other programs, as words.
  llvm::ArrayRef<std::vector<Traced>> commands() const { return Noted; }

private:
  /// Whether it succeeded; nothing if that is not known.
  using Status = std::optional<bool>;

  Status run(const Commands &All);
  Status run(const Command &C);
  Status simple(const Command &C);
  Status conditional(const Command &C);
  Status caseOf(const Command &C);
  Status loop(const Command &C);
  Status builtin(std::vector<Traced> Of);
  bool followNested(const std::vector<Traced> &Of);
  Status test(llvm::ArrayRef<Traced> Of);
  Status testAll(llvm::StringRef Raw);
  void assign(const Assignment &A);
  void print(std::vector<Traced> Of);
  void collectOwn(const Commands &All);
  /// Nothing is known any longer of what \p All would set.
  void forget(const Commands &All);
  void undecided(const Command &C, llvm::StringRef Where);
  std::optional<Traced> output(llvm::StringRef Script);

  State &S;
  DiagnosticEngine &Diags;
  std::function<std::optional<Traced>(llvm::StringRef)> Open;
  Expander Words;
  std::vector<std::vector<Traced>> Noted;
  std::vector<Traced> Outer; ///< what starts the shell that is followed
  llvm::StringMap<Command> Functions;
  Traced *Captured = nullptr; ///< what `echo` prints, if anything reads it
  bool IsCaptureKnown = true;
  unsigned Steps = 0, Depth = 0;
  size_t NumRead = 0; ///< characters of scripts
};

} // namespace foretrace::importers::shell

#endif
