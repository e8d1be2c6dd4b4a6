// SPDX-License-Identifier: Apache-2.0
//
// Names and control of expressions; arithmetic is in Arithmetic.cpp, names in
// strings are in EvaluateString.cpp.
#include "frontend/Evaluate.h"
#include "frontend/Arithmetic.h"
#include "frontend/ForeignNames.h"
#include "ir/model/SpecFields.h"
#include "lang/DidYouMean.h"
#include "lang/ShippedLayers.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace foretrace;

/// Returns whether a key of the spec, or of a library layer, has this value.
static bool isSpelling(llvm::StringRef Word) {
  static constexpr llvm::StringRef Spellings[] = {
#define SPEC_ENUM(TYPE, ENUMERATOR, SPELLING) SPELLING,
#include "ir/model/Spec.def"
  };
  return llvm::is_contained(Spellings, Word) ||
         llvm::any_of(shippedLayers(), [&](const layers::Layer &L) {
           return L.hasWord(Word) ||
                  (L.Name == Word && llvm::is_contained(L.Roles, "attention"));
         });
}

std::optional<ExprValue> Evaluator::evaluate(const ast::Expr &E, const Scope &S,
                                             Words W) {
  auto Restore =
      llvm::make_scope_exit([this, C = Current, N = Names, M = Mode] {
        --Depth;
        Current = C;
        Names = N;
        Mode = M;
      });
  ++Depth;
  Current = &E;
  Names = &S;
  Mode = W;
  return std::visit([&](const auto &Node) { return visit(Node); }, E.Node);
}

std::optional<bool> Evaluator::evaluateCondition(const ast::Expr &E,
                                                 const Scope &S) {
  std::optional<ExprValue> V = evaluate(E, S);
  if (!V)
    return std::nullopt;
  if (const bool *B = V->getIf<bool>())
    return *B;
  Diags.report(E.Range, diag::NotACondition, describe(*V));
  return std::nullopt;
}

/// Checks a param's value against `in {...}`.
static bool isInDomain(Evaluator &E, const Symbol &S, const ExprValue &V,
                       DiagnosticEngine &Diags) {
  llvm::SmallVector<std::string> Legal;
  for (const ast::ExprPtr &Element : S.Param->Domain) {
    std::optional<ExprValue> Allowed = E.evaluate(*Element, *S.Home);
    if (!Allowed)
      return false;
    if (Allowed->Data.index() == V.Data.index() && Allowed->Dim == V.Dim &&
        format(*Allowed) == format(V))
      return true;
    Legal.push_back(format(*Allowed).value_or(describe(*Allowed)));
  }
  Diags
      .report(V.Range, diag::OutsideDomain, S.Name.Text,
              format(V).value_or(describe(V)), llvm::join(Legal, ", "))
      .note(S.Name.Range, diag::DeclaredHere, S.Name.Text);
  return false;
}

const std::optional<ExprValue> &Evaluator::evaluate(Symbol &S,
                                                    SourceRange Use) {
  if (S.Is == Symbol::State::Known)
    return S.Result;
  if (S.Is == Symbol::State::Computing) {
    Diags.report(S.Name.Range, diag::CyclicDefinition, S.Name.Text)
        .note(Use, diag::UsedHere, S.Name.Text);
    return S.Result;
  }
  S.Is = Symbol::State::Computing;
  // One expression is less deep than half of this; the stack suffices for all.
  constexpr unsigned MaxDepth = 4096;
  if (Depth > MaxDepth)
    Diags.report(Use, diag::NameDepth, S.Name.Text, MaxDepth);
  else if (S.Definition) {
    // A name has one value for all layers.
    const llvm::SaveAndRestore<std::optional<LayerNumber>> All(Layer,
                                                               std::nullopt);
    S.Result = evaluate(*S.Definition, *S.Home);
  } else
    Diags.report(S.Name.Range, diag::ParamWithoutValue, S.Name.Text);
  if (S.Result && S.Param && !S.Param->Domain.empty() &&
      !isInDomain(*this, S, *S.Result, Diags))
    S.Result = std::nullopt;
  S.Is = Symbol::State::Known;
  return S.Result;
}

Evaluator::Result Evaluator::visit(const ast::Number &N) {
  return evaluateNumber(N, Current->Range, Diags);
}

Evaluator::Result Evaluator::visit(const ast::Boolean &B) {
  return ExprValue{B.Value, Dimension::Count, Current->Range};
}

Evaluator::Result Evaluator::visit(const ast::Name &N) {
  return lookUp(N.Path, Mode);
}

Evaluator::Result Evaluator::visit(const ast::List &L) {
  ListValue Out;
  bool Ok = true;
  SourceRange Range = Current->Range;
  for (const ast::ExprPtr &Element : L.Elements) {
    std::optional<ExprValue> V = evaluate(*Element, *Names, Mode);
    Ok &= V.has_value();
    if (V)
      Out.Elements.push_back(std::move(*V));
  }
  if (!Ok)
    return std::nullopt;
  return ExprValue{std::move(Out), Dimension::Count, Range};
}

Evaluator::Result Evaluator::visit(const ast::Unary &U) {
  SourceRange Range = Current->Range;
  std::optional<ExprValue> A = evaluate(*U.Operand, *Names);
  return A ? applyUnary(U.Op, *A, Range, Diags) : std::nullopt;
}

/// A condition, of the job or of the points of a sweep.
Evaluator::Result Evaluator::truth(const ast::Expr &E) {
  Result V = evaluate(E, *Names);
  if (!V || V->getIf<bool>() || V->getIf<ConditionValue>())
    return V;
  Diags.report(E.Range, diag::NotACondition, describe(*V));
  return std::nullopt;
}

/// `and` and `or` look at the right side only if the left leaves it open.
Evaluator::Result Evaluator::logic(const ast::Binary &B) {
  SourceRange Range = Current->Range;
  const Result Left = truth(*B.Left);
  if (!Left)
    return std::nullopt;
  if (const bool *L = Left->getIf<bool>();
      L && *L == (B.Op == ast::BinaryOp::Or))
    return ExprValue{*L, Dimension::Count, Range};
  Result Right = truth(*B.Right);
  if (!Right)
    return std::nullopt;
  return applyBinary(B.Op, B.OpRange, *Left, *Right, Range, Diags);
}

Evaluator::Result Evaluator::visit(const ast::Binary &B) {
  if (B.Op == ast::BinaryOp::And || B.Op == ast::BinaryOp::Or)
    return logic(B);
  SourceRange Range = Current->Range;
  std::optional<ExprValue> Left = evaluate(*B.Left, *Names);
  std::optional<ExprValue> Right = evaluate(*B.Right, *Names);
  if (!Left || !Right)
    return std::nullopt;
  if (isFull()) // and reported: another list would be made for nothing
    return std::nullopt;
  Result Out = applyBinary(B.Op, B.OpRange, *Left, *Right, Range, Diags);
  if (Out && Out->getIf<ListValue>() && !count(*Out, Range))
    return std::nullopt;
  return Out;
}

Evaluator::Result Evaluator::visit(const ast::Conditional &C) {
  std::optional<bool> Condition = evaluateCondition(*C.Condition, *Names);
  if (!Condition)
    return std::nullopt;
  return evaluate(*Condition ? *C.Then : *C.Else, *Names, Mode);
}

Evaluator::Result Evaluator::visit(const ast::Call &C) {
  SourceRange Range = Current->Range;
  llvm::SmallVector<ExprValue, 2> Arguments;
  for (const ast::ExprPtr &A : C.Arguments)
    if (std::optional<ExprValue> V = evaluate(*A, *Names))
      Arguments.push_back(std::move(*V));
  if (Arguments.size() != C.Arguments.size())
    return std::nullopt;
  return applyCall(C.Callee, Arguments, Range, Diags);
}

/// Counts \p V, which is to be copied, or a list made of others; false if that
/// is too much. Names that each mean two copies of another would fill any
/// memory within a few lines.
bool Evaluator::count(const ExprValue &V, SourceRange Use) {
  if (isFull())
    return false;
  Copied += weigh(V);
  if (isFull())
    Diags.report(Use, diag::ValueLimit, MaxCopied);
  return !isFull();
}

Evaluator::Result Evaluator::layerNumber() {
  if (Layer)
    return ExprValue{Layer->Is, Dimension::Count, Current->Range};
  Diags.report(Current->Range, diag::LayerNumber);
  return std::nullopt;
}

Evaluator::Result Evaluator::lookUp(llvm::ArrayRef<ast::Word> Path, Words W) {
  const ast::Word &First = Path.front();
  SourceRange Range = Current->Range;
  if (Symbol *S = Names->find(First.Text)) {
    const Result &Known = evaluate(*S, First.Range);
    if (!Known || !count(*Known, First.Range))
      return std::nullopt;
    Result V = Known;
    if (Path.size() > 1)
      V = member(*Known, Path);
    if (!V || (Path.size() > 1 && !count(*V, Range)))
      return std::nullopt;
    V->Range = Range;
    return V;
  }
  if (Path.size() == 1 && First.Text == "layer")
    return layerNumber();
  if (LookUpKey)
    if (Result Found = LookUpKey(Path)) {
      Found->Range = Range;
      return Found;
    }
  if (Path.size() == 1 && (W == Words::Any || isSpelling(First.Text)))
    return ExprValue{WordValue{First.Text}, Dimension::Count, Range};
  DiagnosticBuilder B =
      Diags.report(First.Range, diag::UnknownName, First.Text);
  const ForeignName *Here = findForeignName("words", First.Text);
  if (!Here)
    if (const ForeignName *Metric = findForeignName("metrics", First.Text);
        Metric && Names->find(Metric->Here))
      Here = Metric;
  if (Here)
    B.note(First.Range, diag::AliasOfKey, First.Text, Here->Here)
        .fix(First.Range, Here->Here);
  else if (Names->ofUnknown() &&
           nearestWord(First.Text, Names->names()).empty())
    B.note(First.Range, *Names->ofUnknown(), First.Text);
  else
    suggest(B, First.Range, First.Text, Names->names());
  return std::nullopt;
}

/// The entry \p Path names in \p Table; the first word named the table itself.
Evaluator::Result Evaluator::member(const ExprValue &Table,
                                    llvm::ArrayRef<ast::Word> Path) {
  const auto *T = Table.getIf<TableValue>();
  const ast::Word &Key = Path[1];
  if (!T) {
    Diags.report(Path[0].Range, diag::TypeMismatch, "." + Key.Text, "a table",
                 describe(Table));
    return std::nullopt;
  }
  llvm::SmallVector<llvm::StringRef> Keys;
  for (const ast::Entry &E : T->Section->Entries) {
    Result Found;
    if (const auto *A = std::get_if<ast::Assignment>(&E.Node)) {
      Keys.push_back(A->Key.Text);
      if (A->Key.Text != Key.Text)
        continue;
      const auto *Text = std::get_if<ast::String>(&A->Value->Node);
      Found = Text ? ExprValue{Text->Value, Dimension::Count, A->Value->Range}
                   : evaluate(*A->Value, Scope());
    } else if (const auto *S = std::get_if<ast::Section>(&E.Node)) {
      Keys.push_back(S->Keyword.Text);
      if (S->Keyword.Text != Key.Text)
        continue;
      Found = ExprValue{TableValue{S}, Dimension::Count, S->Range};
    }
    if (Found && Path.size() > 2)
      return member(*Found, Path.drop_front());
    return Found;
  }
  suggest(
      Diags.report(Key.Range, diag::UnknownTableKey, Path[0].Text, Key.Text),
      Key.Range, Key.Text, Keys);
  return std::nullopt;
}
