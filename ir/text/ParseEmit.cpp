// SPDX-License-Identifier: Apache-2.0
//
// Reads `emit` blocks, whose options are values of any kind.
#include "ir/text/SpecParser.h"
#include "lang/diagnostics/IR.h"

using namespace foretrace;
using namespace foretrace::ir;

bool SpecParser::list(Attribute &A, unsigned Depth) {
  A.K = Attribute::Kind::List;
  if (In.takePunct("]"))
    return true;
  do {
    A.Elements.emplace_back();
    if (!value(A.Elements.back(), Depth + 1))
      return false;
  } while (In.takePunct(","));
  return In.expectPunct("]");
}

bool SpecParser::section(Attribute &A, unsigned Depth) {
  A.K = Attribute::Kind::Section;
  return In.expectBraces([&] {
    Token Name;
    A.Fields.emplace_back();
    NamedAttribute &F = A.Fields.back();
    if (!In.expectName("a key or `}`", Name) || !In.text(Name, F.Name))
      return false;
    F.NameRange = Name.Range;
    return In.expectPunct("=") && value(F.Value, Depth + 1);
  });
}

bool SpecParser::value(Attribute &A, unsigned Depth) {
  constexpr unsigned MaxDepth = 64;
  A.Range = In.peek().Range;
  if (Depth > MaxDepth) {
    In.Diags.report(A.Range, diag::IrTooDeep, MaxDepth);
    return false;
  }
  if (In.takePunct("["))
    return list(A, Depth);
  Token T = In.peek();
  switch (T.K) {
  case Token::Kind::Integer:
    A.K = Attribute::Kind::Int;
    return In.expectInteger(INT64_MIN, A.Integer);
  case Token::Kind::Real:
    A.K = Attribute::Kind::Real;
    return In.expectReal(A.Real);
  case Token::Kind::Word:
  case Token::Kind::String:
    In.next();
    if (!In.text(T, A.Text))
      return false;
    A.K =
        T.is(Token::Kind::Word) ? Attribute::Kind::Name : Attribute::Kind::Text;
    break;
  default:
    break;
  }
  if (In.peek().isPunct("{"))
    return section(A, Depth);
  if (T.isWord("true") || T.isWord("false")) {
    A.K = Attribute::Kind::Bool;
    A.Integer = T.isWord("true");
    A.Text.clear();
    return true;
  }
  return T.is(Token::Kind::Word) || T.is(Token::Kind::String) ||
         In.expected("a value");
}

bool SpecParser::emit() {
  Token Name;
  EmitSpec E;
  if (!In.expectName("the name of a backend", Name) ||
      !In.text(Name, E.Backend))
    return false;
  E.Range = Name.Range;
  Token Value = In.peek();
  if (!value(E.Options, 0))
    return false;
  if (E.Options.K != Attribute::Kind::Section) {
    In.Diags.report(Value.Range, diag::IrSyntax, "`{`", "another value");
    return false;
  }
  S.Emits.push_back(std::move(E));
  return true;
}
