// SPDX-License-Identifier: Apache-2.0
//
// Tokens of the text form. Input may be any bytes: whatever is not a token
// becomes a token of kind Bad. Private to the IR.
#pragma once

#include "lang/Source.h"
#include "llvm/ADT/StringRef.h"

namespace foretrace::ir {

struct Token {
  enum class Kind : unsigned char {
    Word,    ///< a letter or `_`, then letters, digits, `_`, `.` and `-`
    Value,   ///< `%` and a word, a number or a string; Text is without the `%`
    Integer, ///< `42`, `-1`
    Real,    ///< `2.5`, `1e-06`
    String,  ///< Text is without the quotes, escapes are still in it
    Punct,   ///< one character, or `..`
    Bad,     ///< a byte that starts no token, or a string without end
    End,
  };
  Kind K = Kind::End;
  llvm::StringRef Text;
  SourceRange Range;

  bool is(Kind Other) const { return K == Other; }
  /// Returns whether it is this punctuation.
  bool isPunct(llvm::StringRef P) const {
    return K == Kind::Punct && Text == P;
  }
  bool isWord(llvm::StringRef W) const { return K == Kind::Word && Text == W; }
};

/// Splits a text into tokens. Blanks, newlines and `//` comments are
/// separators.
class Lexer {
public:
  explicit Lexer(SourceText Text) : Text(Text), Rest(Text.str()) {}
  Token next();

private:
  void skipBlanks();
  Token take(Token::Kind K, size_t Length);
  Token string(size_t Skip, Token::Kind K);
  Token value();
  Token number();

  SourceText Text;
  llvm::StringRef Rest;
};

} // namespace foretrace::ir
