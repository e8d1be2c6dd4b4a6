// SPDX-License-Identifier: Apache-2.0
#include "frontend/BuildAST.h"
#include "frontend/TokenSource.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/Support/MathExtras.h"

using namespace foretrace::layers;
using antlr4::ParserRuleContext;
using foretrace::grammar::ForeParser;

namespace foretrace {

namespace {

/// Builds layers; has one function for each rule of the grammar.
class LayerBuilder {
public:
  LayerBuilder(SourceText Text, DiagnosticEngine &Diags,
               llvm::BumpPtrAllocator &Arena)
      : Text(Text), Diags(Diags), Arena(Arena) {}

  Layer layer(ForeParser::LayerContext &C);

private:
  /// Puts what \p Make makes of each context into the arena.
  template <typename NodeT, typename ContextT, typename MakeT>
  llvm::ArrayRef<NodeT> all(const std::vector<ContextT *> &Of, MakeT Make);
  llvm::ArrayRef<Statement> body(ForeParser::BodyContext *C);
  Statement statement(ForeParser::StatementContext &C);
  Statement key(ForeParser::KeyNameContext &C);
  void demand(ForeParser::DemandContext &C, Statement &Out);
  Tensor tensor(ForeParser::TensorContext &C);
  Argument argument(ForeParser::ArgumentContext &C);
  llvm::ArrayRef<Tensor> one(ForeParser::TensorContext &C);
  llvm::ArrayRef<Expr> one(ForeParser::ExprContext *C);
  llvm::ArrayRef<Expr> operands(llvm::ArrayRef<const ast::Expr *> Of);
  std::string count(const ast::Number &N, SourceRange Range);
  Expr expr(const ast::Expr &E);
  Expr expr(ForeParser::ExprContext &C) {
    return expr(*buildExpr(C, Text, Diags));
  }

  SourceRange range(ParserRuleContext &C) const {
    return getRange(*C.start, Text).to(getRange(*C.stop, Text));
  }
  llvm::StringRef text(ParserRuleContext *C) const {
    return C ? Text.slice(range(*C)) : "";
  }
  llvm::StringRef unquoted(const antlr4::Token &T);
  llvm::StringRef unquoted(antlr4::tree::TerminalNode *N) {
    return N ? unquoted(*N->getSymbol()) : "";
  }
  template <typename ContextT>
  llvm::ArrayRef<llvm::StringRef> words(const std::vector<ContextT *> &Of) {
    return all<llvm::StringRef>(Of,
                                [&](ContextT &W) { return keep(text(&W)); });
  }
  llvm::StringRef keep(llvm::StringRef S) { return S.copy(Arena); }

  SourceText Text;
  DiagnosticEngine &Diags;
  llvm::BumpPtrAllocator &Arena;
};

} // namespace

template <typename NodeT, typename ContextT, typename MakeT>
llvm::ArrayRef<NodeT> LayerBuilder::all(const std::vector<ContextT *> &Of,
                                        MakeT Make) {
  auto *Nodes = Arena.Allocate<NodeT>(Of.size());
  for (size_t I = 0; I < Of.size(); ++I)
    new (Nodes + I) NodeT(Make(*Of[I]));
  return {Nodes, Of.size()};
}

llvm::ArrayRef<Expr>
LayerBuilder::operands(llvm::ArrayRef<const ast::Expr *> Of) {
  return all<Expr>(std::vector<const ast::Expr *>(Of),
                   [&](const ast::Expr &E) { return expr(E); });
}

/// A number of the text of a layer is a count, `64` or `4Ki`.
std::string LayerBuilder::count(const ast::Number &N, SourceRange Range) {
  static constexpr struct {
    llvm::StringRef Word;
    int64_t Factor;
  } Prefixes[] = {{"", 1},           {"K", 1000},     {"M", 1000000},
                  {"G", 1000000000}, {"Ki", 1 << 10}, {"Mi", 1 << 20},
                  {"Gi", 1 << 30}};
  const auto *Prefix = llvm::find_if(
      Prefixes, [&](const auto &Row) { return Row.Word == N.Unit; });
  int64_t Digits = 0, Product = 0;
  if (Prefix == std::end(Prefixes))
    Diags.report(Range, diag::WrongUnit, N.Digits + N.Unit, "a quantity",
                 "a count");
  else if (N.IsDecimal || llvm::StringRef(N.Digits).getAsInteger(10, Digits) ||
           llvm::MulOverflow(Digits, Prefix->Factor, Product))
    Diags.report(Range, diag::IntegerOverflow, N.Digits + N.Unit);
  return std::to_string(Product);
}

Expr LayerBuilder::expr(const ast::Expr &E) {
  Expr Out{Expr::Kind::Name, "", {}, E.Range};
  if (const auto *N = std::get_if<ast::Number>(&E.Node)) {
    Out.Is = Expr::Kind::Number;
    Out.Text = keep(count(*N, E.Range));
  } else if (const auto *S = std::get_if<ast::String>(&E.Node)) {
    Out.Is = Expr::Kind::String;
    Out.Text = keep(S->Value);
  } else if (const auto *B = std::get_if<ast::Binary>(&E.Node)) {
    Out.Is = Expr::kindOf(B->Op);
  } else if (std::holds_alternative<ast::Unary>(E.Node)) {
    Out.Is = Expr::Kind::Not;
  } else if (std::holds_alternative<ast::Conditional>(E.Node)) {
    Out.Is = Expr::Kind::Conditional;
  } else if (const auto *F = std::get_if<ast::Call>(&E.Node)) {
    Out.Is = Expr::Kind::Call;
    Out.Text = keep(F->Callee.Text);
  } else { // a name, `true` or `false`
    Out.Text = keep(Text.slice(E.Range));
    return Out;
  }
  Out.Operands = operands(ast::operandsOf(E));
  return Out;
}

llvm::ArrayRef<Expr> LayerBuilder::one(ForeParser::ExprContext *C) {
  return C ? llvm::ArrayRef(*new (Arena.Allocate<Expr>()) Expr(expr(*C)))
           : llvm::ArrayRef<Expr>();
}

llvm::ArrayRef<Tensor> LayerBuilder::one(ForeParser::TensorContext &C) {
  return *new (Arena.Allocate<Tensor>()) Tensor(tensor(C));
}

Tensor LayerBuilder::tensor(ForeParser::TensorContext &C) {
  std::vector<ForeParser::KeyContext *> Keys = C.key();
  Tensor Out{keep(text(Keys.front())), "", "", {}, range(C)};
  if (C.LIKE()) {
    Out.Like = keep(text(Keys.back()));
    Keys.pop_back();
  }
  if (Keys.size() > 1)
    Out.Element = keep(text(Keys[1]));
  Out.Dims =
      all<Expr>(C.expr(), [&](ForeParser::ExprContext &D) { return expr(D); });
  return Out;
}

Argument LayerBuilder::argument(ForeParser::ArgumentContext &C) {
  return {keep(text(C.name())), expr(*C.expr())};
}

/// The text between quotes, as it is written.
llvm::StringRef LayerBuilder::unquoted(const antlr4::Token &T) {
  return keep(Text.slice(getRange(T, Text)).drop_front().drop_back());
}

Statement LayerBuilder::key(ForeParser::KeyNameContext &C) {
  Statement Out{};
  Out.Is = C.op && C.op->getType() == ForeParser::EQ ? Statement::Kind::Same
                                                     : Statement::Kind::Key;
  Out.Name = keep(text(C.name()));
  if (ForeParser::KeyValuesContext *Can = C.keyValues()) {
    Out.Can.Words = words(Can->word());
    if (antlr4::tree::TerminalNode *Least = Can->NUMBER()) {
      const llvm::StringRef Digits =
          Text.slice(getRange(*Least->getSymbol(), Text));
      Out.Can.ArePositive = Digits == "1";
      if (Digits != "0" && Digits != "1")
        Diags.report(range(*Can), diag::UnknownSpelling, Digits + "..",
                     "`0..`, `1..`");
    }
  }
  Out.Doc = unquoted(C.STRING());
  Out.Values = one(C.expr());
  Out.Range = range(*C.name());
  return Out;
}

Statement LayerBuilder::statement(ForeParser::StatementContext &C) {
  Statement Out{};
  Out.Range = range(C);
  if (ForeParser::InvocationContext *Call = C.invocation()) {
    Out.Is = C.OP() ? Statement::Kind::Op : Statement::Kind::Layer;
    Out.Tensors = all<Tensor>(
        C.tensor(), [&](ForeParser::TensorContext &T) { return tensor(T); });
    Out.Name = keep(text(Call->name()));
    Out.Arguments =
        all<Argument>(Call->argument(), [&](ForeParser::ArgumentContext &A) {
          return argument(A);
        });
    Out.As = keep(text(C.key()));
  } else if (C.FROM()) {
    Out.Is = Statement::Kind::From;
    Out.Name = keep(text(C.key()));
    Out.As = unquoted(C.STRING());
  } else if (C.SHARED() && !C.PARAM()) {
    Out.Is = Statement::Kind::Weights;
    Out.Name = keep(text(C.name()));
    Out.Then = body(C.body(0));
  } else if (C.PART()) {
    Out.Is = Statement::Kind::Part;
    Out.As = unquoted(C.STRING());
  } else if (C.MODULE()) {
    Out.Is = Statement::Kind::Module;
    Out.Name = keep(text(C.name()));
    Out.As = keep(text(C.key()));
    Out.Then = body(C.body(0));
  } else if (C.IF()) {
    Out.Is = Statement::Kind::If;
    Out.Values = one(C.expr());
    Out.Then = body(C.body(0));
    Out.Else = body(C.body(1));
  } else if (ForeParser::LetContext *L = C.let()) {
    Out.Is = Statement::Kind::Let;
    Out.Name = keep(text(L->name()));
    Out.Values = one(L->expr());
  } else if (ForeParser::DemandContext *D = C.demand()) {
    demand(*D, Out);
  } else if (C.PARAM() || C.INPUT()) {
    Out.Is = C.INPUT()    ? Statement::Kind::Input
             : C.TIED()   ? Statement::Kind::Tied
             : C.SHARED() ? Statement::Kind::Shared
                          : Statement::Kind::Param;
    Out.Tensors = one(*C.tensor(0));
  } else {
    Out.Is = Statement::Kind::Rename;
    Out.Tensors = one(*C.tensor(0));
    Out.Name = keep(text(C.key()));
  }
  return Out;
}

void LayerBuilder::demand(ForeParser::DemandContext &C, Statement &Out) {
  Out.Is = Statement::Kind::Require;
  std::vector<ForeParser::ExprContext *> Exprs = C.expr();
  std::vector<Expr> Values = {expr(*Exprs.front())};
  Exprs.erase(Exprs.begin());
  Out.Arguments = all<Argument>(Exprs, [&](ForeParser::ExprContext &A) {
    return Argument{"", expr(A)};
  });
  for (ForeParser::KeyContext *K : C.key())
    Values.push_back({Expr::Kind::Name, keep(text(K)), {}, range(*K)});
  Out.Values = llvm::ArrayRef(Values).copy(Arena);
  if (C.slug)
    Out.Name = unquoted(*C.slug);
  if (C.source)
    Out.Doc = unquoted(*C.source);
  else if (C.message)
    Out.Doc = unquoted(*C.message);
}

/// Each key of a list is a statement.
llvm::ArrayRef<Statement> LayerBuilder::body(ForeParser::BodyContext *C) {
  if (!C)
    return {};
  std::vector<Statement> Out;
  for (ForeParser::StatementContext *S : C->statement())
    if (S->KEY())
      for (ForeParser::KeyNameContext *Key : S->keyName())
        Out.push_back(key(*Key));
    else
      Out.push_back(statement(*S));
  return llvm::ArrayRef(Out).copy(Arena);
}

Layer LayerBuilder::layer(ForeParser::LayerContext &C) {
  auto Names = [&](ForeParser::NamesContext *N) {
    return N ? words(N->name()) : llvm::ArrayRef<llvm::StringRef>();
  };
  return {keep(text(C.name())), unquoted(C.STRING()), Names(C.inputs),
          Names(C.outputs),     Names(C.roles),       body(C.body()),
          range(*C.name())};
}

ast::Layer buildLayer(ForeParser::LayerContext &Tree, SourceText Text,
                      DiagnosticEngine &Diags) {
  ast::Layer Out{std::make_shared<llvm::BumpPtrAllocator>(), {}};
  Out.Is = LayerBuilder(Text, Diags, *Out.Arena).layer(Tree);
  return Out;
}

} // namespace foretrace
