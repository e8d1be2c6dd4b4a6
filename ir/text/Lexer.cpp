// SPDX-License-Identifier: Apache-2.0
#include "ir/text/Lexer.h"
#include "ir/text/TextWriter.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

static size_t countDigits(llvm::StringRef Text) {
  return Text.take_while(llvm::isDigit).size();
}

void Lexer::skipBlanks() {
  for (;;) {
    Rest = Rest.ltrim(" \t\r\n");
    if (!Rest.starts_with("//"))
      return;
    Rest = Rest.drop_front(std::min(Rest.find('\n'), Rest.size()));
  }
}

Token Lexer::take(Token::Kind K, size_t Length) {
  Token T;
  T.K = K;
  T.Text = Rest.take_front(Length);
  T.Range = Text.rangeOf(T.Text);
  Rest = Rest.drop_front(Length);
  return T;
}

/// Reads a string whose opening quote follows \p Skip characters.
Token Lexer::string(size_t Skip, Token::Kind K) {
  size_t End = Skip + 1;
  while (End < Rest.size() && Rest[End] != '"' && Rest[End] != '\n')
    End += Rest[End] == '\\' ? 2 : 1;
  if (End >= Rest.size() || Rest[End] != '"')
    return take(Token::Kind::Bad, 1);
  Token T = take(K, End + 1);
  T.Text = T.Text.slice(Skip + 1, End);
  return T;
}

Token Lexer::value() {
  if (Rest.substr(1).starts_with("\""))
    return string(1, Token::Kind::Value);
  size_t Length = Rest.drop_front().take_while(isWordCharacter).size();
  if (Length == 0)
    return take(Token::Kind::Bad, 1);
  Token T = take(Token::Kind::Value, 1 + Length);
  T.Text = T.Text.drop_front();
  return T;
}

Token Lexer::number() {
  size_t End = Rest[0] == '-';
  End += countDigits(Rest.substr(End));
  Token::Kind K = Token::Kind::Integer;
  if (Rest.substr(End).starts_with(".") && countDigits(Rest.substr(End + 1))) {
    K = Token::Kind::Real;
    End += 1 + countDigits(Rest.substr(End + 1));
  }
  if (Rest.substr(End).starts_with("e")) {
    size_t Digits = End + 1;
    Digits +=
        Digits < Rest.size() && (Rest[Digits] == '+' || Rest[Digits] == '-');
    if (size_t N = countDigits(Rest.substr(Digits))) {
      K = Token::Kind::Real;
      End = Digits + N;
    }
  }
  return take(K, End);
}

Token Lexer::next() {
  skipBlanks();
  if (Rest.empty())
    return take(Token::Kind::End, 0);
  char C = Rest[0];
  if (C == '"')
    return string(0, Token::Kind::String);
  if (C == '%')
    return value();
  if (llvm::isDigit(C) || (C == '-' && countDigits(Rest.substr(1))))
    return number();
  if (llvm::isAlpha(C) || C == '_')
    return take(Token::Kind::Word, Rest.take_while(isWordCharacter).size());
  if (Rest.starts_with("..") || Rest.starts_with("->"))
    return take(Token::Kind::Punct, 2);
  if (llvm::StringRef("{}()[]=:,@+*-/<").contains(C))
    return take(Token::Kind::Punct, 1);
  return take(Token::Kind::Bad, 1);
}
