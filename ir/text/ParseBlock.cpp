// SPDX-License-Identifier: Apache-2.0
//
// Reads a block of ops. Names are looked up once the whole block is read, so
// that order is the verifier's business.
#include "ir/text/ParseExpr.h"
#include "ir/text/ParseParts.h"
#include "lang/diagnostics/IR.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

class BlockParser {
public:
  BlockParser(TextReader &In, LocationFinder &Locations, Program &P, Block &B)
      : In(In), Locations(Locations), P(P), B(B) {}

  bool parse();

private:
  /// A use of a name, to be looked up at the end of the block.
  struct Use {
    enum class Place : unsigned char { Operand, GradientOf, For, Signature };
    Place In;
    Token Name;
    unsigned Owner;     ///< the op, for a gradient the value, else the list
    unsigned Index = 0; ///< of the operand
  };

  bool entry();
  bool total();
  bool signature();
  bool signatureList(unsigned List);
  bool declaration(ValueKind Kind);
  bool define(const Token &Name, ValueKind Kind, ValueId &Out);
  bool valueType(ValueId V);
  bool op();
  bool results(OpId Id);
  bool kind(Op &O);
  bool operands(OpId Id);
  bool types(OpId Id);
  bool details(OpId Id);
  bool servedOp(OpId Id);
  bool expression(llvm::StringRef Word, ExprId &Out);
  bool time(Nanoseconds &Out);
  bool location(Origin &O);
  bool resolve();
  bool resolve(const Use &U, ValueId V);

  TextReader &In;
  LocationFinder &Locations;
  Program &P;
  Block &B;
  llvm::StringMap<ValueId> Names;
  std::vector<SourceRange> Defined; ///< by value
  std::vector<OpId> Makers;         ///< by value; none if only declared
  std::vector<Use> Uses;
  bool SeenSignature = false;
};

/// In the order of the text.
constexpr Signature::List Signature::*SignatureLists[] = {
    &Signature::Inputs, &Signature::Outputs, &Signature::OutputGradients,
    &Signature::InputGradients};

} // namespace

FileId LocationFinder::open(llvm::StringRef Path) {
  auto [It, IsNew] = Files.try_emplace(Path, FileId::None);
  if (!IsNew)
    return It->second;
  const auto Status = Sources.system().status(Path);
  if (Status && Status->isRegularFile())
    if (const llvm::ErrorOr<FileId> File = Sources.open(Path))
      It->second = *File;
  return It->second;
}

SourceLocation LocationFinder::find(llvm::StringRef Path, int64_t Line,
                                    int64_t Column) {
  const FileId File = open(Path);
  if (File == FileId::None || Line > INT32_MAX || Column > INT32_MAX)
    return {};
  return Sources.find(File, static_cast<unsigned>(Line),
                      static_cast<unsigned>(Column));
}

bool BlockParser::define(const Token &Name, ValueKind Kind, ValueId &Out) {
  Value V;
  V.Kind = Kind;
  if (!In.text(Name, V.Name))
    return false;
  auto [It, IsNew] = Names.try_emplace(V.Name, B.Values.idAt(B.Values.size()));
  if (!IsNew)
    return In.twice(Name, "value", Defined[It->second.Index]);
  Out = B.Values.add(std::move(V));
  Defined.push_back(Name.Range);
  Makers.emplace_back();
  return true;
}

bool BlockParser::valueType(ValueId Id) {
  Value &V = B.Values[Id];
  if (!expectType(In, P, V.Type, V.Layout))
    return false;
  V.Tied = In.takeWord("tied");
  V.Alias = In.takeWord("alias");
  V.Frozen = In.takeWord("frozen");
  if (!In.takeWord("grad"))
    return true;
  V.Kind = ValueKind::Gradient;
  if (!In.takePunct("("))
    return true;
  Token Of;
  if (!In.expectToken(Token::Kind::Value, "a value", Of))
    return false;
  Uses.push_back({Use::Place::GradientOf, Of, Id.Index});
  return In.expectPunct(")");
}

bool BlockParser::declaration(ValueKind Kind) {
  Token Name;
  ValueId V;
  return In.expectToken(Token::Kind::Value, "the name of a value", Name) &&
         define(Name, Kind, V) && In.expectPunct(":") && valueType(V);
}

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

/// Values, or `none`: what follows without it may be the next op's result.
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

/// `time(N ns)`, if it is next.
bool BlockParser::time(Nanoseconds &Out) {
  int64_t Count = 0;
  if (In.takeWord("time") &&
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
  for (llvm::StringRef *Text : {&O.Pass, &O.Rule}) {
    Token T;
    if (!In.expectPunct(",") ||
        !In.expectToken(Token::Kind::String, "a string", T))
      return false;
    // Origins keep parts of the buffer, which can't hold escapes.
    if (T.Text.contains('\\')) {
      In.Diags.report(T.Range, diag::IrSyntax, "plain text", "an escape");
      return false;
    }
    *Text = T.Text;
  }
  return In.expectPunct(")");
}

bool BlockParser::details(OpId Id) {
  Op &O = B.Ops[Id];
  for (Phase P :
       {Phase::Forward, Phase::Recompute, Phase::Backward, Phase::Step})
    if (In.takeWord(getName(P))) {
      O.Phase = P;
      break;
    }
  return servedOp(Id) && expression(getStatedName(O.Kind), O.Stated) &&
         expression("flops", O.Work.Id) && time(O.Time) && location(O.Origin);
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

bool BlockParser::signatureList(unsigned List) {
  if (!In.expectPunct("("))
    return false;
  if (In.takePunct(")"))
    return true;
  do {
    Token T;
    if (!In.expectToken(Token::Kind::Value, "a value", T))
      return false;
    Uses.push_back({Use::Place::Signature, T, List});
  } while (In.takePunct(","));
  return In.expectPunct(")");
}

/// `(%x) -> (%y) grad (%d_y) -> (%d_x)`; what no block hands on has no `grad`.
bool BlockParser::signature() {
  SeenSignature = true;
  if (!signatureList(0) || !In.expectPunct("->") || !signatureList(1))
    return false;
  return !In.takeWord("grad") ||
         (signatureList(2) && In.expectPunct("->") && signatureList(3));
}

/// `kept = sequence*hidden`, `messages(tp) = sequence*hidden`.
bool BlockParser::total() {
  if (In.takeWord("messages"))
    return expectMessages(In, P, B.Totals.Messages);
  const Token Word = In.peek();
#define TOTAL(MEMBER, TYPE, WORD, DOC)                                         \
  if (In.takeWord(WORD))                                                       \
    return expectTotal(In, P, Word, B.Totals.MEMBER.Id);
#include "ir/model/Totals.def"
  return In.expected("what is totalled");
}

bool BlockParser::entry() {
  static constexpr struct {
    llvm::StringLiteral Word;
    ValueKind Kind;
  } Declarations[] = {{"input", ValueKind::Input},
                      {"param", ValueKind::Param},
                      {"value", ValueKind::Activation}};
  for (const auto &D : Declarations)
    if (In.takeWord(D.Word))
      return declaration(D.Kind);
  const Token Word = In.peek();
  if (In.takeWord("total"))
    return total();
  if (In.takeWord("signature"))
    return SeenSignature ? In.twice(Word, "part") : signature();
  return op();
}

bool BlockParser::resolve(const Use &U, ValueId V) {
  switch (U.In) {
  case Use::Place::Operand:
    B.Ops[OpId{U.Owner}].Operands[U.Index] = V;
    return true;
  case Use::Place::GradientOf:
    B.Values[ValueId{U.Owner}].GradientOf = V;
    return true;
  case Use::Place::Signature:
    (B.Signature.*SignatureLists[U.Owner]).push_back(V);
    return true;
  case Use::Place::For:
    B.Ops[OpId{U.Owner}].For = Makers[V.Index];
    if (Makers[V.Index].isValid())
      return true;
    In.Diags.report(U.Name.Range, diag::IrSyntax, "the result of an op",
                    "a value that no op makes");
    return false;
  }
  llvm_unreachable("covered switch");
}

bool BlockParser::resolve() {
  bool Ok = true;
  for (const Use &U : Uses) {
    if (U.Name.is(Token::Kind::Integer)) {
      if (!B.Ops.contains(B.Ops[OpId{U.Owner}].For)) {
        In.Diags.report(U.Name.Range, diag::IrSyntax, "the number of an op",
                        "one beyond the last op");
        Ok = false;
      }
      continue;
    }
    std::string Name;
    if (!In.text(U.Name, Name))
      return false;
    auto It = Names.find(Name);
    if (It == Names.end()) {
      In.Diags.report(U.Name.Range, diag::IrUndefinedValue, U.Name.Text);
      Ok = false;
    } else {
      Ok &= resolve(U, It->second);
    }
  }
  return Ok;
}

bool BlockParser::parse() {
  return In.expectBraces([this] { return entry(); }) && resolve();
}

bool foretrace::ir::parseBlock(TextReader &In, LocationFinder &Locations,
                               Program &P, Block &Out) {
  return BlockParser(In, Locations, P, Out).parse();
}
