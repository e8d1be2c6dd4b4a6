// SPDX-License-Identifier: Apache-2.0
//
// Command lines as data: words with their places, and the flags among them.
#pragma once

#include "lang/SourceFiles.h"
#include "tools/importers/formulas/ForeignValue.h"
#include "llvm/ADT/StringExtras.h"

namespace foretrace::importers {

/// A word of a command line, without its quotes.
struct ArgumentWord {
  std::string Text;
  SourceRange Range; ///< with its quotes

  bool isFlag() const {
    return Text.size() > 2 && llvm::StringRef(Text).starts_with("--");
  }
  /// Returns whether it is like `-o`, but not a negative number.
  bool isShortOption() const {
    return Text.size() > 1 && Text[0] == '-' && llvm::isAlpha(Text[1]);
  }
};

/// The words of a text as a shell splits it: quotes are taken off, `#` starts a
/// comment and a backslash continues a line. Variables stay as they are.
std::vector<ArgumentWord> readWords(SourceText Text);

/// Returns the length of a placeholder such as `<PATH>` at the start of
/// \p Text, or 0. No shell could run it, so it is no redirection.
size_t placeholderLength(llvm::StringRef Text);

/// Returns a word as a value: a number, a boolean, a list of Python
/// (`[0]*3+[1]*58`) or of numbers (`127,0`), or a text. Missing, with the word
/// as its text, if the word has a shell variable or a placeholder.
ForeignValue readArgument(llvm::StringRef Word, SourceRange Range);
/// Returns the words that follow a flag as a value: true if there is none, a
/// list if there are several.
ForeignValue readArguments(llvm::ArrayRef<ArgumentWord> Words,
                           SourceRange Flag);

/// The flags of a command line, `_` for `-` in their names. A flag that is
/// repeated has its last value. Words before the first flag are no part of it.
ForeignValue readFlags(llvm::ArrayRef<ArgumentWord> Words, SourceRange Whole);

/// Sets the member \p Key, in place of one of this name.
void setMember(std::vector<ForeignValue::Member> &Members, ast::Word Key,
               ForeignValue To);

} // namespace foretrace::importers
