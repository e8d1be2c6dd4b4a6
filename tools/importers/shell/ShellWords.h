// SPDX-License-Identifier: Apache-2.0
//
// Variables of a shell, and words with their values in them. Each character
// knows where it is written.
#ifndef FORETRACE_TOOLS_IMPORTERS_SHELL_SHELLWORDS_H
#define FORETRACE_TOOLS_IMPORTERS_SHELL_SHELLWORDS_H

#include "lang/Source.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace foretrace::importers::shell {

/// A text, and the place of each of its characters.
struct Traced {
  std::string Text;
  std::vector<SourceRange> At;

  void add(char C, SourceRange Where) {
    Text += C;
    At.push_back(Where);
  }
  void add(const Traced &Other) {
    Text += Other.Text;
    At.insert(At.end(), Other.At.begin(), Other.At.end());
  }
  void add(llvm::StringRef Other, SourceRange Where) {
    Text += Other;
    At.insert(At.end(), Other.size(), Where);
  }
  /// From the first character to the last one, if they are in one piece.
  SourceRange range() const;
};

struct Variable {
  std::vector<Traced> Elements;
  bool IsArray = false;
};

/// What a script has set so far.
struct State {
  llvm::StringMap<Variable> Variables;
  std::vector<Traced> Arguments; ///< `$1` and the others
  /// Names that the script sets somewhere: unset, they are empty. Others come
  /// from outside.
  llvm::StringSet<> Own;
  /// All texts that are read as scripts; they stay where they are.
  std::deque<Traced> Texts;

  /// Where a character of one of the texts is written.
  SourceRange originOf(const char *At) const;
};

/// Puts values in place of variables.
class Expander {
public:
  /// \p Run gives the output of commands, if it is known.
  Expander(State &S, std::function<std::optional<Traced>(llvm::StringRef)> Run)
      : S(S), Run(std::move(Run)) {}

  /// The words that a word stands for. A variable from outside remains as
  /// `${NAME}`.
  std::vector<Traced> words(llvm::StringRef Raw);
  /// The same as one text.
  Traced text(llvm::StringRef Raw);
  /// The value of an expression of integers.
  std::optional<int64_t> arithmetic(llvm::StringRef Expression);
  /// While set, variables from outside are empty.
  bool IsTest = false;

private:
  void expand(llvm::StringRef Raw, bool IsQuoted);
  /// The length of what begins with `$` at the start of \p Raw.
  size_t dollar(llvm::StringRef Raw, bool IsQuoted);
  void parameter(llvm::StringRef Inside, llvm::StringRef Whole, bool IsQuoted);
  void substitution(llvm::StringRef Inside, llvm::StringRef Whole,
                    bool IsQuoted);
  void insert(const std::vector<Traced> &Values, bool IsQuoted, bool AreApart);
  void insertUndefined(llvm::StringRef Name, llvm::StringRef Whole);
  std::optional<std::vector<Traced>> lookUp(llvm::StringRef Name) const;
  bool applies(llvm::StringRef Operator, llvm::StringRef Operand,
               std::optional<std::vector<Traced>> &Value, bool IsQuoted);
  void endWord();

  State &S;
  std::function<std::optional<Traced>(llvm::StringRef)> Run;
  std::vector<Traced> Made;
  bool IsOpen = false; ///< the last word is not ended
};

/// The value of an expression whose variables \p Value gives and \p Set
/// sets.
std::optional<int64_t>
evaluate(llvm::StringRef Expression,
         llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> Value,
         llvm::function_ref<void(llvm::StringRef, int64_t)> Set);

} // namespace foretrace::importers::shell

#endif
