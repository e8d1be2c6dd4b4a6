// SPDX-License-Identifier: Apache-2.0
//
// Follows a shell script without running anything: variables are set, and
// commands of other programs are only noted.
#pragma once

#include "lang/Diagnostic.h"
#include "tools/importers/shell/ShellSyntax.h"
#include "tools/importers/shell/ShellWords.h"
#include "llvm/ADT/DenseSet.h"
#include <memory>

namespace foretrace::importers::shell {

/// Scripts and functions may be this deep in others.
constexpr unsigned MaxDepthOfCalls = 16;

class Follower {
public:
  /// \p Open gives the text of a script that another one reads.
  Follower(State &S, DiagnosticEngine &Diags,
           std::function<std::optional<Traced>(llvm::StringRef)> Open)
      : S(S), Diags(Diags), Open(std::move(Open)),
        Words(S, [this](llvm::StringRef Script) { return output(Script); }) {}

  void follow(Traced Text);
  /// The commands of other programs, as words.
  llvm::ArrayRef<std::vector<Traced>> commands() const { return Noted; }

private:
  /// Whether it succeeded; nothing if that is not known.
  using Status = std::optional<bool>;
  /// A function, with the script that contains it.
  struct Function {
    std::shared_ptr<const Commands> Script;
    const Command *Is = nullptr;
  };

  void followKept(llvm::StringRef Text, bool IsOwn);
  Status run(const Commands &All);
  Status run(const Command &C);
  Status simple(const Command &C);
  Status conditional(const Command &C);
  Status caseOf(const Command &C);
  Status loop(const Command &C);
  Status builtin(std::vector<Traced> Of);
  bool followNested(const std::vector<Traced> &Of);
  Status call(Function Called, std::vector<Traced> Of);
  Status test(llvm::ArrayRef<Traced> Of);
  Status comparison(llvm::ArrayRef<Traced> Of);
  Status testAll(llvm::StringRef Raw);
  Status testWords(llvm::StringRef Raw);
  Status end(llvm::ArrayRef<Traced> Of);
  void read(llvm::ArrayRef<Traced> Of);
  Status subshell(const Command &C);
  bool round(const Commands &Body);
  void assign(const Assignment &A);
  /// Keeps the variable \p Name of the caller of a function.
  void hide(llvm::StringRef Name);
  void print(std::vector<Traced> Of);
  void collectOwn(const Commands &All);
  /// Forgets the variables that \p All would set; with \p IsOftenSet, even
  /// those that were set before.
  void forget(const Commands &All, bool IsOftenSet);
  void undecided(const Command &C, llvm::StringRef Where);
  std::optional<Traced> output(llvm::StringRef Text);

  State &S;
  DiagnosticEngine &Diags;
  std::function<std::optional<Traced>(llvm::StringRef)> Open;
  Expander Words;
  std::vector<std::vector<Traced>> Noted;
  std::vector<Traced> Outer; ///< what starts the shell that is followed
  std::shared_ptr<const Commands> Script; ///< that is followed
  llvm::StringMap<Function> Functions;
  /// Conditions that messages are about.
  llvm::DenseSet<const char *> Undecided;
  Traced *Captured = nullptr; ///< what `echo` prints, if anything reads it
  bool IsCaptureKnown = true;
  /// The way in which commands that are followed are left.
  enum class Leave : unsigned char { No, Continue, Break, Return, Exit };
  Leave Leaves = Leave::No;
  bool IsSure = true;     ///< that the commands are run at all
  unsigned Subshells = 0; ///< around the commands
  /// Variables that are hidden by local ones of functions.
  std::vector<std::pair<std::string, std::optional<Variable>>> Hidden;
  unsigned Depth = 0; ///< of scripts and functions in others
};

} // namespace foretrace::importers::shell
