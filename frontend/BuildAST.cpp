// SPDX-License-Identifier: Apache-2.0
#include "frontend/BuildAST.h"
#include "frontend/TokenSource.h"
#include "lang/diagnostics/Frontend.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using antlr4::ParserRuleContext;
using antlr4::tree::TerminalNode;
using foretrace::grammar::ForeParser;

namespace foretrace {

namespace {

/// Builds the AST; has one function for each rule of the grammar.
class Builder {
public:
  Builder(SourceText Text, DiagnosticEngine &Diags)
      : Text(Text), Diags(Diags) {}

  ast::Item item(ForeParser::ItemContext &C);
  ast::ExprPtr expr(ForeParser::ExprContext &C);
  std::vector<ast::Axis::Element> elements(ForeParser::ElementsContext &C);

private:
  SourceRange range(ParserRuleContext &C) const {
    return getRange(*C.start, Text).to(getRange(*C.stop, Text));
  }
  SourceRange range(TerminalNode &N) const {
    return getRange(*N.getSymbol(), Text);
  }
  StringRef slice(SourceRange R) const { return Text.slice(R); }
  template <typename NodeT> ast::Word word(NodeT &N) const {
    SourceRange R = range(N);
    return {slice(R).str(), R};
  }
  std::string unescape(SourceRange Literal);

  ast::Dim dim(ForeParser::DimContext &C);
  ast::Import import(ForeParser::Import_Context &C);
  ast::Param param(ForeParser::ParamContext &C);
  ast::Let let(ForeParser::LetContext &C);
  ast::Require require(ForeParser::RequireContext &C);
  ast::Section section(ForeParser::SectionContext &C);
  ast::If conditionalEntries(ForeParser::If_Context &C);
  std::vector<ast::Entry> block(ForeParser::BlockContext &C);
  ast::Entry entry(ForeParser::EntryContext &C);
  ast::Axis axis(ForeParser::AxisContext &C);

  std::vector<ast::ExprPtr> exprs(ArrayRef<ForeParser::ExprContext *> Cs);
  ast::Number number(ForeParser::NumberContext &C);
  ast::Number quantity(ForeParser::QuantityContext &C);
  template <typename PathContext> ast::Name path(PathContext &C);
  ast::Binary binary(ForeParser::BinaryContext &C);

  SourceText Text;
  DiagnosticEngine &Diags;
};

} // namespace

std::string Builder::unescape(SourceRange Literal) {
  StringRef Body = slice(Literal).drop_front().drop_back();
  std::string Out;
  Out.reserve(Body.size());
  for (size_t I = 0; I != Body.size(); ++I) {
    if (Body[I] != '\\') {
      Out += Body[I];
      continue;
    }
    switch (char C = Body[++I]) {
    case 'n':
      Out += '\n';
      break;
    case '"':
    case '\\':
      Out += C;
      break;
    default:
      Diags.report(Text.rangeOf(Body.slice(I - 1, I + 1)), diag::BadEscape);
    }
  }
  return Out;
}

ast::Item Builder::item(ForeParser::ItemContext &C) {
  SourceRange R = range(C);
  if (ForeParser::SectionContext *S = C.section())
    return {section(*S), R};
  if (ForeParser::LetContext *L = C.let())
    return {let(*L), R};
  if (ForeParser::ParamContext *P = C.param())
    return {param(*P), R};
  if (ForeParser::RequireContext *Q = C.require())
    return {require(*Q), R};
  if (ForeParser::LayerContext *L = C.layer())
    return {buildLayer(*L, Text, Diags), R};
  if (ForeParser::DimContext *D = C.dim())
    return {dim(*D), R};
  return {import(*C.import_()), R};
}

ast::Dim Builder::dim(ForeParser::DimContext &C) {
  ast::Dim Out{word(*C.name()), {}};
  if (C.axes)
    for (ForeParser::NameContext *A : C.axes->name())
      Out.Axes.push_back(word(*A));
  return Out;
}

ast::Import Builder::import(ForeParser::Import_Context &C) {
  SourceRange R = range(*C.STRING());
  ast::Import Out{{unescape(R), R}, {}};
  if (ForeParser::NameContext *Alias = C.name())
    Out.Alias = word(*Alias);
  return Out;
}

ast::Param Builder::param(ForeParser::ParamContext &C) {
  ast::Param Out{word(*C.name()), exprs(C.expr()), nullptr};
  if (C.ASSIGN()) {
    Out.Default = std::move(Out.Domain.back());
    Out.Domain.pop_back();
  }
  return Out;
}

ast::Let Builder::let(ForeParser::LetContext &C) {
  return {word(*C.name()), expr(*C.expr())};
}

ast::Require Builder::require(ForeParser::RequireContext &C) {
  ast::Require Out{expr(*C.expr()), nullptr};
  if (TerminalNode *Message = C.STRING()) {
    SourceRange R = range(*Message);
    Out.Message =
        std::make_unique<ast::Expr>(ast::Expr{R, ast::String{unescape(R)}});
  }
  return Out;
}

ast::Section Builder::section(ForeParser::SectionContext &C) {
  ast::Section Out;
  Out.Keyword = word(*C.ID());
  if (ForeParser::LabelContext *Label = C.label()) {
    Out.Label.Range = range(*Label);
    for (ForeParser::NameContext *Part : Label->name()) {
      if (!Out.Label.Text.empty())
        Out.Label.Text += '-';
      Out.Label.Text += slice(range(*Part));
    }
  }
  if (ForeParser::NameContext *Base = C.name())
    Out.Base = word(*Base);
  Out.Entries = block(*C.block());
  Out.Range = range(C);
  return Out;
}

ast::If Builder::conditionalEntries(ForeParser::If_Context &C) {
  ast::If Out{expr(*C.expr()), block(*C.block(0)), {}};
  if (C.ELSE())
    Out.Else = block(*C.block(1));
  return Out;
}

std::vector<ast::Entry> Builder::block(ForeParser::BlockContext &C) {
  std::vector<ForeParser::EntryContext *> Entries = C.entry();
  std::vector<ast::Entry> Out;
  Out.reserve(Entries.size());
  for (ForeParser::EntryContext *E : Entries)
    Out.push_back(entry(*E));
  return Out;
}

ast::Entry Builder::entry(ForeParser::EntryContext &C) {
  SourceRange R = range(C);
  if (ForeParser::AssignmentContext *A = C.assignment())
    return {ast::Assignment{word(*A->word()), expr(*A->expr())}, R};
  if (ForeParser::SectionContext *S = C.section())
    return {section(*S), R};
  if (ForeParser::LetContext *L = C.let())
    return {let(*L), R};
  if (ForeParser::RequireContext *Q = C.require())
    return {require(*Q), R};
  if (ForeParser::If_Context *I = C.if_())
    return {conditionalEntries(*I), R};
  if (ForeParser::AxisContext *A = C.axis())
    return {axis(*A), R};
  ForeParser::ClauseContext &Clause = *C.clause();
  const SourceRange Keyword = getRange(*Clause.op, Text);
  return {ast::Clause{{slice(Keyword).str(), Keyword}, expr(*Clause.expr())},
          R};
}

ast::Axis Builder::axis(ForeParser::AxisContext &C) {
  ast::Axis Out{{}, elements(*C.elements()), range(C)};
  for (ForeParser::KeyContext *Key : C.key())
    Out.Keys.push_back(path(*Key));
  return Out;
}

std::vector<ast::Axis::Element>
Builder::elements(ForeParser::ElementsContext &C) {
  std::vector<ast::Axis::Element> Out;
  for (ForeParser::ElementContext *E : C.element())
    Out.push_back({expr(*E->expr(0)), E->RANGE() ? expr(*E->expr(1)) : nullptr,
                   range(*E)});
  return Out;
}

std::vector<ast::ExprPtr>
Builder::exprs(ArrayRef<ForeParser::ExprContext *> Cs) {
  std::vector<ast::ExprPtr> Out;
  Out.reserve(Cs.size());
  for (ForeParser::ExprContext *C : Cs)
    Out.push_back(expr(*C));
  return Out;
}

/// The number without underscores at the start of \p Literal, and in \p Length
/// how much of it that is.
static ast::Number readDigits(StringRef Literal, size_t &Length) {
  auto SkipDigits = [&](size_t I) {
    while (I < Literal.size() && (isDigit(Literal[I]) || Literal[I] == '_'))
      ++I;
    return I;
  };
  size_t End = SkipDigits(0);
  bool IsDecimal = End < Literal.size() && Literal[End] == '.';
  if (IsDecimal)
    End = SkipDigits(End + 1);
  StringRef Exponent = Literal.substr(End);
  if (Exponent.consume_front_insensitive("e")) {
    size_t Sign = Exponent.starts_with("+") || Exponent.starts_with("-");
    size_t Digits = Exponent.drop_front(Sign).take_while(isDigit).size();
    if (Digits != 0) {
      IsDecimal = true;
      End += 1 + Sign + Digits;
    }
  }
  Length = End;
  ast::Number Out{Literal.take_front(End).str(), IsDecimal, {}, {}};
  llvm::erase(Out.Digits, '_');
  return Out;
}

ast::Number Builder::number(ForeParser::NumberContext &C) {
  size_t Length;
  ast::Number Out = readDigits(slice(range(*C.NUMBER())), Length);
  if (ForeParser::UnitContext *Unit = C.unit()) {
    Out.UnitRange = range(*Unit);
    Out.Unit = slice(Out.UnitRange).str();
  }
  return Out;
}

ast::Number Builder::quantity(ForeParser::QuantityContext &C) {
  SourceRange R = range(C);
  size_t Length;
  ast::Number Out = readDigits(slice(R), Length);
  Out.UnitRange = Text.rangeOf(slice(R).drop_front(Length));
  Out.Unit = slice(Out.UnitRange).str();
  return Out;
}

template <typename PathContext> ast::Name Builder::path(PathContext &C) {
  ast::Name Out;
  Out.Path.push_back(word(*C.name()));
  for (ForeParser::WordContext *Part : C.word())
    Out.Path.push_back(word(*Part));
  return Out;
}

ast::Binary Builder::binary(ForeParser::BinaryContext &C) {
  const SourceRange Op = getRange(*C.op, Text);
  return {operatorOf(slice(Op)), Op, expr(*C.expr(0)), expr(*C.expr(1))};
}

ast::ExprPtr Builder::expr(ForeParser::ExprContext &C) {
  auto Make = [&](auto &&Node) {
    return std::make_unique<ast::Expr>(ast::Expr{range(C), std::move(Node)});
  };
  if (auto *N = dynamic_cast<ForeParser::NumberContext *>(&C))
    return Make(number(*N));
  if (auto *Q = dynamic_cast<ForeParser::QuantityContext *>(&C))
    return Make(quantity(*Q));
  if (auto *P = dynamic_cast<ForeParser::PathContext *>(&C))
    return Make(path(*P));
  if (auto *B = dynamic_cast<ForeParser::BinaryContext *>(&C))
    return Make(binary(*B));
  if (dynamic_cast<ForeParser::StringContext *>(&C))
    return Make(ast::String{unescape(range(C))});
  if (dynamic_cast<ForeParser::TrueContext *>(&C))
    return Make(ast::Boolean{true});
  if (dynamic_cast<ForeParser::FalseContext *>(&C))
    return Make(ast::Boolean{false});
  if (auto *L = dynamic_cast<ForeParser::ListContext *>(&C))
    return Make(ast::List{exprs(L->expr())});
  if (auto *F = dynamic_cast<ForeParser::CallContext *>(&C))
    return Make(ast::Call{word(*F->name()), exprs(F->expr())});
  if (auto *N = dynamic_cast<ForeParser::NegateContext *>(&C))
    return Make(ast::Unary{ast::UnaryOp::Negate, expr(*N->expr())});
  if (auto *N = dynamic_cast<ForeParser::NotContext *>(&C))
    return Make(ast::Unary{ast::UnaryOp::Not, expr(*N->expr())});
  if (auto *I = dynamic_cast<ForeParser::ConditionalContext *>(&C))
    return Make(ast::Conditional{expr(*I->expr(0)), expr(*I->expr(1)),
                                 expr(*I->expr(2))});
  ast::ExprPtr Inner =
      expr(*static_cast<ForeParser::ParensContext &>(C).expr());
  Inner->Range = range(C);
  return Inner;
}

ast::File buildFile(ForeParser::FileContext &Tree, SourceText Text,
                    DiagnosticEngine &Diags) {
  Builder B(Text, Diags);
  ast::File Out;
  std::vector<ForeParser::ItemContext *> Items = Tree.item();
  Out.Items.reserve(Items.size());
  for (ForeParser::ItemContext *I : Items)
    Out.Items.push_back(B.item(*I));
  return Out;
}

ast::ExprPtr buildExpression(ForeParser::ExpressionContext &Tree,
                             SourceText Text, DiagnosticEngine &Diags) {
  return Builder(Text, Diags).expr(*Tree.expr());
}

ast::ExprPtr buildExpr(ForeParser::ExprContext &Tree, SourceText Text,
                       DiagnosticEngine &Diags) {
  return Builder(Text, Diags).expr(Tree);
}

std::vector<ast::Axis::Element>
buildElements(ForeParser::GivenElementsContext &Tree, SourceText Text,
              DiagnosticEngine &Diags) {
  return Builder(Text, Diags).elements(*Tree.elements());
}

} // namespace foretrace
