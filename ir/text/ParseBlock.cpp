// SPDX-License-Identifier: Apache-2.0
//
// Reads a block of ops.
#include "ir/text/BlockParser.h"
#include "lang/diagnostics/IR.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// In the order of the text.
static constexpr Signature::List Signature::*SignatureLists[] = {
    &Signature::Inputs, &Signature::Outputs, &Signature::OutputGradients,
    &Signature::InputGradients};

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
  V.Copy = In.takeWord("copy");
  V.Shared = In.takeWord("shared");
  V.Detached = In.takeWord("detached");
  if (In.takeWord("gathered")) {
    ElementType Gathered{};
    if (!In.expectSpelling("a type", Gathered))
      return false;
    V.Gathered = Gathered;
  }
  V.Frozen = In.takeWord("frozen");
  if (In.takeWord("part") && !plainText(V.Part))
    return false;
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

/// Reads a string that stays a part of the buffer, so that it cannot have
/// escapes.
bool BlockParser::plainText(llvm::StringRef &Out) {
  Token T;
  if (!In.expectToken(Token::Kind::String, "a string", T))
    return false;
  if (T.Text.contains('\\')) {
    In.Diags.report(T.Range, diag::IrSyntax, "plain text", "an escape");
    return false;
  }
  Out = T.Text;
  return true;
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

/// Reads `in(0)`, with a module before this line, if it is next.
bool BlockParser::enclosing(ModuleId &Out) {
  if (!In.takeWord("in"))
    return true;
  int64_t Index = 0;
  if (!In.expectPunct("("))
    return false;
  const Token T = In.peek();
  if (!In.expectInteger(0, Index) || !In.expectPunct(")"))
    return false;
  if (Index >= static_cast<int64_t>(B.Modules.size())) {
    In.Diags.report(T.Range, diag::IrSyntax, "the number of a module", T.Text);
    return false;
  }
  Out = ModuleId(static_cast<unsigned>(Index));
  return true;
}

/// Reads `0 = layernorm in(1) until %x`. Numbers are in order.
bool BlockParser::module() {
  const Token Number = In.peek();
  Module M;
  int64_t Index = 0;
  Token Name;
  if (!In.expectInteger(0, Index))
    return false;
  if (Index != static_cast<int64_t>(B.Modules.size())) {
    In.Diags.report(Number.Range, diag::IrSyntax,
                    std::to_string(B.Modules.size()), Number.Text);
    return false;
  }
  if (!In.expectPunct("=") || !In.expectName("the name of a module", Name) ||
      !enclosing(M.Parent))
    return false;
  M.Name = Name.Text;
  if (In.takeWord("until")) {
    Token Until;
    if (!In.expectToken(Token::Kind::Value, "a value", Until))
      return false;
    Uses.push_back(
        {Use::Place::Until, Until, static_cast<unsigned>(B.Modules.size())});
  }
  B.Modules.add(M);
  return true;
}

/// Reads `(256, 8, 8, 4)`.
bool BlockParser::copies() {
  TokenChoice C = {};
  bool IsFirst = true;
  for (int64_t *Number : {&C.Experts, &C.TopK, &C.Groups, &C.GroupTopK}) {
    if (!In.expectPunct(IsFirst ? "(" : ",") || !In.expectInteger(1, *Number))
      return false;
    IsFirst = false;
  }
  B.Copies = C;
  return In.expectPunct(")");
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
  if (In.takeWord("module"))
    return module();
  if (In.takeWord("copies"))
    return copies();
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
  case Use::Place::Until:
    if (U.In == Use::Place::For)
      B.Ops[OpId{U.Owner}].For = Makers[V.Index];
    else
      B.Modules[ModuleId{U.Owner}].Until = V;
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
