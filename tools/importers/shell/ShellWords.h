// SPDX-License-Identifier: Apache-2.0
//
// Variables of a shell, and words with their values in them. Each character
// knows where it is written.
#pragma once

#include "lang/Source.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/GlobPattern.h"
#include <deque>
#include <functional>
#include <map>
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

/// Variables and functions that a script has set so far.
class State {
public:
  explicit State(size_t Effort) : Left(Effort) {}

  llvm::StringMap<Variable> Variables;
  std::vector<Traced> Arguments; ///< `$1` and the others
  /// Names that the script sets somewhere: unset, they are empty. Others come
  /// from outside.
  llvm::StringSet<> Own;

  /// A word after the script that it reads and does not get.
  struct MissingWord {
    std::string Name; ///< of the variable that is set to it
    /// Values that the variable is compared with.
    std::vector<std::string> Values;
    SourceRange Where;
  };
  std::map<unsigned, MissingWord> Missing;
  unsigned Functions = 0; ///< that are followed: these have words of their own
  /// If one of two texts that are compared is a missing word, notes the other.
  void noteComparison(llvm::StringRef L, llvm::StringRef R);
  /// Returns \p Text as a missing word; null if it is none.
  MissingWord *findMissing(llvm::StringRef Text);

  /// Parts of the script that are not supported, once each.
  std::map<std::string, SourceRange> Unsupported;

  /// Keeps a text that is read as a script, for places in it.
  llvm::StringRef keep(Traced Script);
  /// Returns the text with this character; null if there is none.
  const Traced *textOf(const char *At) const;
  /// Returns where a character of one of the texts is written.
  SourceRange originOf(const char *At) const;
  /// Takes \p Effort, in about the time of an instruction or two, from what is
  /// left for the script; false if it is more. Loops and values of values would
  /// else take any time and memory.
  bool spend(size_t Effort) {
    IsSpent |= Effort > Left;
    Left -= IsSpent ? 0 : Effort;
    return !IsSpent;
  }
  /// Leaves nothing.
  void giveUp() { IsSpent = true; }
  /// Returns whether the work limit is reached: results are then useless.
  bool isSpent() const { return IsSpent; }

private:
  std::deque<Traced> Texts;
  /// The texts by their first characters.
  std::map<const char *, const Traced *> Places;
  size_t Left; ///< of the effort
  bool IsSpent = false;
};

/// The effort of a character, a word and a command, places included.
constexpr size_t CharacterEffort = 4, WordEffort = 16, CommandEffort = 64;

/// Returns roughly the cost of copying \p Words.
size_t copyEffort(llvm::ArrayRef<Traced> Words);

/// Returns whether \p Index selects all values of an array.
inline bool areAll(llvm::StringRef Index) {
  return Index == "@" || Index == "*";
}
/// A number as the value of a variable.
std::vector<Traced> countOf(int64_t Number, SourceRange Where);

/// A pattern of a shell, such as `*.sh`.
class Pattern {
public:
  Pattern(State &S, llvm::StringRef Written);
  Pattern(const Pattern &) = delete; // what is compiled refers to the text
  bool isValid() const { return Compiled.has_value(); }
  bool matches(llvm::StringRef Text) const;

private:
  State &S;
  const std::string Written;
  std::optional<llvm::GlobPattern> Compiled;
};

/// Puts values in place of variables.
class Expander {
public:
  /// \p Run gives the output of commands, if it is known.
  Expander(State &S, std::function<std::optional<Traced>(llvm::StringRef)> Run)
      : S(S), Run(std::move(Run)) {}

  /// Returns the words that a word expands to. A variable from outside remains
  /// `${NAME}`.
  std::vector<Traced> words(llvm::StringRef Raw);
  /// Returns the expansion of \p Raw as one text.
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
  bool isValueOfFlag(llvm::StringRef Whole);
  /// The values of a variable, where they are kept.
  std::optional<llvm::ArrayRef<Traced>> lookUp(llvm::StringRef Name) const;
  std::optional<std::vector<Traced>> member(llvm::ArrayRef<Traced> Of,
                                            llvm::StringRef Index);
  void noteMissing(llvm::StringRef Name, llvm::StringRef Whole);
  std::optional<std::vector<Traced>>
  select(llvm::StringRef Name, llvm::StringRef Index, llvm::StringRef Whole);
  bool replace(std::vector<Traced> &In, llvm::StringRef Written);
  bool slice(std::vector<Traced> &In, llvm::StringRef Written, bool AreAll);
  bool cut(Traced &T, llvm::StringRef Written, bool AtEnd, bool IsLongest);
  void quoted(llvm::StringRef Inside);
  bool applies(llvm::StringRef Operator, llvm::StringRef Operand,
               std::optional<std::vector<Traced>> &Value, bool IsQuoted);
  /// Begins a word, if none is open.
  void openWord();
  void endWord() { IsOpen = false; }
  void put(llvm::StringRef Text, SourceRange Where);

  State &S;
  std::function<std::optional<Traced>(llvm::StringRef)> Run;
  std::vector<Traced> Made;
  bool IsOpen = false; ///< the last word is not ended
  unsigned Depth = 0;  ///< of words in words
};

/// The value of an expression whose variables \p Value gives and \p Set
/// sets.
std::optional<int64_t>
evaluate(llvm::StringRef Expression,
         llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> Value,
         llvm::function_ref<void(llvm::StringRef, int64_t)> Set);

} // namespace foretrace::importers::shell
