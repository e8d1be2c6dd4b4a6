// SPDX-License-Identifier: Apache-2.0
//
// Reads one op of a block.
#include "ir/model/Spellings.h"
#include "ir/text/BlockParser.h"
#include "lang/diagnostics/IR.h"

using namespace foretrace;
using namespace foretrace::ir;

bool BlockParser::results(OpId Id) {
  if (!In.peek().is(Token::Kind::Value))
    return true;
  do {
    Token Name;
    ValueId V;
    if (!In.expectToken(Token::Kind::Value, "a result", Name) ||
        !define(Name, ValueKind::Activation, V))
      return false;
    Makers[V.Index] = Id;
    B.Ops[Id].Results.push_back(V);
  } while (In.takePunct(","));
  return In.expectPunct("=");
}

/// The mnemonic, with the derivative behind it.
bool BlockParser::kind(Op &O) {
  Token T;
  if (!In.expectToken(Token::Kind::Word, "an op or `}`", T))
    return false;
  Token Mnemonic = T;
  for (Derivative D : {Derivative::Input, Derivative::Param})
    if (Mnemonic.Text.consume_back(getSuffix(D))) {
      O.Derivative = D;
      break;
    }
  std::optional<OpKind> Kind = findOp(Mnemonic.Text);
  if (!Kind)
    return In.unknown(T, "an op", getSpellings<OpKind>());
  O.Kind = *Kind;
  return !In.takePunct("(") || (In.expectGroup(O.Group) && In.expectPunct(")"));
}

/// Parses values, or `none`: without it the next op's result could follow.
bool BlockParser::operands(OpId Id) {
  if (In.takeWord("none"))
    return true;
  do {
    Token T;
    if (!In.expectToken(Token::Kind::Value, "an operand", T))
      return false;
    auto &Operands = B.Ops[Id].Operands;
    Uses.push_back({Use::Place::Operand, T, Id.Index,
                    static_cast<unsigned>(Operands.size())});
    Operands.emplace_back();
  } while (In.takePunct(","));
  return true;
}

bool BlockParser::types(OpId Id) {
  llvm::StringRef Separator = ":";
  for (ValueId V : B.Ops[Id].Results) {
    if (!In.expectPunct(Separator) || !valueType(V))
      return false;
    Separator = ",";
  }
  return true;
}

bool BlockParser::servedOp(OpId Id) {
  if (!In.takeWord("for"))
    return true;
  if (!In.expectPunct("("))
    return false;
  Token T = In.peek();
  if (T.is(Token::Kind::Integer)) {
    int64_t Index;
    if (!In.expectInteger(0, Index))
      return false;
    B.Ops[Id].For = OpId{static_cast<unsigned>(
        std::min<int64_t>(Index, std::numeric_limits<unsigned>::max() - 1))};
  } else if (!In.expectToken(Token::Kind::Value, "a value or a number", T)) {
    return false;
  }
  Uses.push_back({Use::Place::For, T, Id.Index});
  return In.expectPunct(")");
}

/// `flops(expression)` for the word `flops`, if it is next.
bool BlockParser::expression(llvm::StringRef Word, ExprId &Out) {
  return Word.empty() || !In.takeWord(Word) ||
         (In.expectPunct("(") && expectExpr(In, P, Out) && In.expectPunct(")"));
}

/// `@3:2` of a message.
bool BlockParser::place(BucketMessage &Of) {
  return In.expectPunct("@") && In.expectInteger(0, Of.Layer) &&
         In.expectPunct(":") && In.expectInteger(0, Of.Param);
}

/// `messages(2 by 1 * (40@3:2 60@2:5) + 30@0:0)`, if it is next.
bool BlockParser::messages(MessageList &Out) {
  if (!In.takeWord("messages"))
    return true;
  if (!In.expectPunct("("))
    return false;
  do {
    MessagePeriod Of;
    BucketMessage &First = Of.Each.emplace_back();
    if (!In.expectInteger(1, First.Elements))
      return false;
    const bool Recurs = In.takeWord("by");
    if (Recurs) {
      Of.Times = First.Elements;
      if (!In.expectInteger(1, Of.Layers) || !In.expectPunct("*") ||
          !In.expectPunct("(") || !In.expectInteger(1, First.Elements))
        return false;
    }
    if (!place(First))
      return false;
    while (In.peek().is(Token::Kind::Integer)) {
      BucketMessage &Next = Of.Each.emplace_back();
      if (!In.expectInteger(1, Next.Elements) || !place(Next))
        return false;
    }
    if (Recurs && !In.expectPunct(")"))
      return false;
    Out.push_back(std::move(Of));
  } while (In.takePunct("+"));
  return In.expectPunct(")");
}

/// `time(N ns)` for the word `time`, if it is next.
bool BlockParser::time(llvm::StringRef Word, Nanoseconds &Out) {
  int64_t Count = 0;
  if (In.takeWord(Word) &&
      !(In.expectPunct("(") && In.expectInteger(0, Count) &&
        In.expectWord("ns") && In.expectPunct(")")))
    return false;
  Out = Nanoseconds(Count);
  return true;
}

/// `loc("job.fore":12:3 to 12:20, "shard", "rule")`, or `none` for the place.
bool BlockParser::location(Origin &O) {
  if (!In.takeWord("loc"))
    return true;
  if (!In.expectPunct("("))
    return false;
  Token File;
  std::string Path;
  int64_t Place[4];
  if (!In.takeWord("none")) {
    if (!In.expectToken(Token::Kind::String, "a file or `none`", File) ||
        !In.text(File, Path) || !In.expectPunct(":") ||
        !In.expectInteger(1, Place[0]) || !In.expectPunct(":") ||
        !In.expectInteger(1, Place[1]) || !In.expectWord("to") ||
        !In.expectInteger(1, Place[2]) || !In.expectPunct(":") ||
        !In.expectInteger(1, Place[3]))
      return false;
    const SourceLocation Start = Locations.find(Path, Place[0], Place[1]),
                         End = Locations.find(Path, Place[2], Place[3]);
    if (Start.isValid() && End.isValid() && Start.Offset <= End.Offset)
      O.Range = {Start.File, Start.Offset, End.Offset};
  }
  for (llvm::StringRef *Text : {&O.Pass, &O.Rule})
    if (!In.expectPunct(",") || !plainText(*Text))
      return false;
  return In.expectPunct(")");
}

/// `chunk(N)`, if it is next.
bool BlockParser::chunk(std::optional<int64_t> &Out) {
  return !In.takeWord("chunk") ||
         (In.expectPunct("(") && In.expectInteger(0, Out.emplace()) &&
          In.expectPunct(")"));
}

bool BlockParser::details(OpId Id) {
  Op &O = B.Ops[Id];
  for (Phase P :
       {Phase::Forward, Phase::Recompute, Phase::Backward, Phase::Step})
    if (In.takeWord(getName(P))) {
      O.Phase = P;
      break;
    }
  if (!servedOp(Id) || !expression(getStatedName(O.Kind), O.Stated))
    return false;
  O.IsLowPrecision = In.takeWord("low_precision");
  return messages(O.Messages) && enclosing(O.Module) &&
         expression("flops", O.Work.Id) && chunk(O.Chunk) &&
         time("time", O.Time) && time("hidden", O.Hidden) && location(O.Origin);
}

bool BlockParser::op() {
  const SourceRange First = In.peek().Range;
  OpId Id = B.Ops.add({});
  if (!results(Id) || !kind(B.Ops[Id]))
    return false;
  if (In.takePunct("@")) {
    Token Name;
    if (!In.expectName("the name of a module", Name) ||
        !In.text(Name, B.Ops[Id].Name))
      return false;
  }
  if (!operands(Id))
    return false;
  B.Ops[Id].Origin.Range = First.to(In.lastRange());
  return types(Id) && details(Id);
}
