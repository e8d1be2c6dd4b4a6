// SPDX-License-Identifier: Apache-2.0
//
// What the parsers of the spec, of blocks and of the program share: one token
// of lookahead, and the smallest phrases of the text form. Functions return
// false after an error they reported; nothing is then read further.
// Private to the IR.
#pragma once

#include "ir/model/Program.h"
#include "ir/model/Spellings.h"
#include "ir/text/Lexer.h"
#include "lang/Diagnostic.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <limits>

namespace foretrace::ir {

/// `Count * Name` in a folded sequence.
struct NamedRun {
  Token Name;
  int64_t Count = 1;
};

class TextReader {
public:
  TextReader(SourceText Text, DiagnosticEngine &Diags)
      : Diags(Diags), Source(Text), Lex(Text), Current(Lex.next()) {}

  const Token &peek() const { return Current; }
  Token next();
  /// The range of the token that was taken last.
  SourceRange lastRange() const { return Last; }

  /// Consumes the punctuation or word if it is next.
  bool takePunct(llvm::StringRef P);
  bool takeWord(llvm::StringRef W);

  /// Reports that \p What is expected in place of the next token.
  bool expected(const llvm::Twine &What);
  bool expectPunct(llvm::StringRef P);
  bool expectWord(llvm::StringRef W);
  bool expectToken(Token::Kind K, llvm::StringRef What, Token &Out);
  /// A word, or a string where a name isn't one.
  bool expectName(llvm::StringRef What, Token &Out);
  /// An integer that is at least \p Least.
  bool expectInteger(int64_t Least, int64_t &Out);
  /// A number that is at most \p Most.
  bool expectReal(double &Out,
                  double Most = std::numeric_limits<double>::max());

  /// `3` or `3..7`.
  bool expectStages(int64_t &First, int64_t &Count);

  /// Resolves the escapes of a string or of a name in quotes.
  bool text(const Token &T, std::string &Out);

  /// A name of an enum; \p What is what a message calls the enum.
  template <typename EnumT>
  bool expectSpelling(llvm::StringRef What, EnumT &Out) {
    Token T;
    if (!expectName(What, T))
      return false;
    std::optional<EnumT> Found = findSpelling<EnumT>(T.Text);
    if (!Found)
      return unknown(T, What, getSpellings<EnumT>());
    Out = *Found;
    return true;
  }

  /// `tp,cp`, at least one, each once; in canonical order.
  bool expectAxes(AxisList &Out);
  /// `tp,cp` or `pp ends`.
  bool expectGroup(Group &Out);
  /// `a + 3 * b + 24 * (c + 2 * d)` or `()`; \p AddGroup takes each summand.
  /// The sum of all counts fits in 63 bits.
  bool expectSequence(
      llvm::function_ref<bool(int64_t Periods, llvm::ArrayRef<NamedRun>)>
          AddGroup);
  /// Entries between braces; \p Entry reads one.
  bool expectBraces(llvm::function_ref<bool()> Entry);

  /// Reports a name that is no \p What, with the best of \p Known.
  bool unknown(const Token &T, llvm::StringRef What,
               llvm::ArrayRef<llvm::StringRef> Known);
  /// Reports a second \p What; \p First may be invalid.
  bool twice(const Token &T, llvm::StringRef What, SourceRange First = {});

  DiagnosticEngine &Diags;

private:
  bool expectRuns(llvm::SmallVectorImpl<NamedRun> &Runs);
  std::string describe(const Token &T) const;

  SourceText Source;
  Lexer Lex;
  Token Current;
  SourceRange Last;
};

} // namespace foretrace::ir
