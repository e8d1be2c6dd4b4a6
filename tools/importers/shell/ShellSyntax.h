// SPDX-License-Identifier: Apache-2.0
//
// The structure of a shell script: commands with words that are not expanded.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <vector>

namespace foretrace::importers::shell {

struct Command;
using Commands = std::vector<Command>;

/// `NAME=value`, `NAME+=value` or `NAME=( elements )`.
struct Assignment {
  llvm::StringRef Name;
  bool IsAppended = false, IsArray = false;
  std::vector<llvm::StringRef> Values;
};

/// A condition and the commands that depend on it: of an `if`, an `elif` or a
/// loop. `else` has no condition.
struct Branch {
  Commands Condition, Body;
  std::vector<llvm::StringRef> Patterns; ///< of a `case`
};

struct Command {
  enum class Kind : unsigned char {
    Simple,
    Arithmetic, ///< `(( expression ))`, which is the first word
    Test,       ///< `[[ expression ]]`, which is the first word
    If,
    Case,          ///< of the first word
    While,         ///< also `until`
    For,           ///< the first word is the variable
    ForArithmetic, ///< the words are initial, condition and step
    Group,
    Function, ///< the first word is its name
  };
  /// The condition of a command on the one before it: `&&` and `||`.
  enum class Link : unsigned char { Always, And, Or };

  Kind Is = Kind::Simple;
  Link After = Link::Always;
  bool IsNegated = false;
  bool IsSubshell = false; ///< a group in `( )`
  std::vector<Assignment> Assignments;
  std::vector<llvm::StringRef> Words;
  std::vector<Branch> Branches;
};

/// Reads as much of a script as it understands.
Commands parse(llvm::StringRef Script);
/// The words of a text; those of an array.
std::vector<llvm::StringRef> splitRaw(llvm::StringRef Text);
/// The length of the word that \p Text begins with, quotes included; 0 if it
/// begins with none.
size_t rawLength(llvm::StringRef Text);
/// The length of what is between brackets at the start of \p Text, with them;
/// everything if they are not closed.
size_t bracketLength(llvm::StringRef Text, char Open, char Close);
/// Returns where the text in `"` at the start of \p Text ends; the end of
/// \p Text if it is not closed.
size_t closingQuote(llvm::StringRef Text);
/// \p Text without blanks, comments and continued lines at its start; with
/// \p OverLines, also without line breaks.
llvm::StringRef skipBlanks(llvm::StringRef Text, bool OverLines);

} // namespace foretrace::importers::shell
