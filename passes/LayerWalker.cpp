// SPDX-License-Identifier: Apache-2.0
#include "passes/LayerWalker.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Passes.h"
#include "lang/ShippedLayers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/VersionTuple.h"

using namespace foretrace;
using namespace foretrace::ir;

void LayerWalker::fail(SourceRange At, const llvm::Twine &What) {
  if (!At.isValid())
    At = Caller; // what the job's text makes of the library's
  if (!At.isValid())
    llvm::report_fatal_error("in the text of a layer of the library: " + What);
  HasFailed = true;
  Diags.report(At, diag::LayerText, What.str());
}

const layers::Layer *LayerWalker::findLayer(llvm::StringRef Name) const {
  if (const layers::Layer *Shipped = findShippedLayer(Name))
    return Shipped;
  const auto Own = llvm::find_if(
      P.Spec.Layers, [&](const layers::Layer *L) { return L->Name == Name; });
  return Own == P.Spec.Layers.end() ? nullptr : *Own;
}

/// Whether some key of the language has the word as a value.
static bool isWord(llvm::StringRef Word) {
  static const llvm::StringSet<> Words = {
#define SPEC_ENUM(TYPE, ENUMERATOR, SPELLING) SPELLING,
#include "ir/model/Spec.def"
  };
  return Words.contains(Word);
}

/// Text that would take long, or forever, ends in an error.
bool LayerWalker::isBeyondLimits(const Node &E) {
  constexpr unsigned MaxSteps = 1 << 16, MaxNesting = 512;
  if (HasFailed)
    return true;
  if (++Steps > MaxSteps)
    fail(E.Range,
         "the layer takes more than " + llvm::Twine(MaxSteps) + " steps");
  else if (Nesting > MaxNesting)
    fail(E.Range, "names refer to each other more than " +
                      llvm::Twine(MaxNesting) + " times");
  return HasFailed;
}

/// Whether \p E is a number rather than a condition or a word.
bool LayerWalker::isNumber(const Node &E, Frame &F) {
  const auto Deeper = nest();
  if (isBeyondLimits(E))
    return false;
  switch (E.Is) {
  case Node::Kind::Number:
  case Node::Kind::Add:
  case Node::Kind::Sub:
  case Node::Kind::Mul:
  case Node::Kind::Div:
  case Node::Kind::Mod:
    return true;
  case Node::Kind::Conditional: {
    const bool Is = isNumber(E.Operands[1], F);
    if (isNumber(E.Operands[2], F) != Is)
      fail(E.Range, "the two values are of different types");
    return Is;
  }
  case Node::Kind::Name: {
    if (const auto Key = F.Keys.find(E.Text); Key != F.Keys.end())
      return isNumber(*Key->second.Is, *Key->second.In);
    bool Is = false;
    visitKey(E.Text, F, [&](const auto &Member) {
      Is = std::is_same_v<std::decay_t<decltype(Member)>, Located<int64_t>>;
    });
    return Is;
  }
  default:
    return false;
  }
}

/// A name that is no key is a word, if there is such a one.
LayerWalker::Scalar LayerWalker::scalarOf(const Node &E, Frame &F) {
  if (const auto Key = F.Keys.find(E.Text); Key != F.Keys.end())
    return scalar(*Key->second.Is, *Key->second.In);
  if (E.Text == "true" || E.Text == "false")
    return E.Text == "true";
  Scalar Found = E.Text.str();
  const bool IsKey = visitKey(E.Text, F, [&](const auto &Member) {
    if (!Member.isPresent())
      return fail(E.Range, "`" + E.Text + "` has no value here");
    if constexpr (std::is_enum_v<std::decay_t<decltype(*Member)>>)
      Found = getSpelling(*Member).str();
    else
      Found = *Member;
  });
  if (!IsKey && !isWord(E.Text))
    fail(E.Range, "no key or word `" + E.Text + "`");
  return Found;
}

LayerWalker::Scalar LayerWalker::scalar(const Node &E, Frame &F) {
  const auto Deeper = nest();
  if (isBeyondLimits(E))
    return false;
  switch (E.Is) {
  case Node::Kind::String:
    return E.Text.str();
  case Node::Kind::Name:
    return scalarOf(E, F);
  case Node::Kind::Call: { // gated(activation)
    const Scalar Word = scalar(E.Operands[0], F);
    const auto *Text = std::get_if<std::string>(&Word);
    const auto Kind = Text ? findSpelling<ActivationKind>(*Text) : std::nullopt;
    if (E.Text != "gated" || !Kind || E.Operands.size() != 1)
      fail(E.Range, "expected `gated` of an activation");
    return Kind && isGated(*Kind);
  }
  case Node::Kind::Not:
    return !holds(E.Operands[0], F);
  case Node::Kind::And:
    return holds(E.Operands[0], F) && holds(E.Operands[1], F);
  case Node::Kind::Or:
    return holds(E.Operands[0], F) || holds(E.Operands[1], F);
  case Node::Kind::Conditional:
    return scalar(E.Operands[holds(E.Operands[0], F) ? 1 : 2], F);
  case Node::Kind::Number:
  case Node::Kind::Add:
  case Node::Kind::Sub:
  case Node::Kind::Mul:
  case Node::Kind::Div:
  case Node::Kind::Mod:
    return number(E, F).value();
  default:
    return compares(E, F);
  }
}

bool LayerWalker::holds(const Node &E, Frame &F) {
  const Scalar Is = scalar(E, F);
  if (const auto *Holds = std::get_if<bool>(&Is); Holds || HasFailed)
    return Holds && *Holds;
  fail(E.Range, "expected a condition");
  return false;
}

/// Whether there is a tensor, if \p E asks that.
std::optional<bool> LayerWalker::aboutTensor(const Node &E, Frame &F) {
  if (E.Is != Node::Kind::Eq && E.Is != Node::Kind::Ne)
    return std::nullopt;
  const Node &L = E.Operands[0], &R = E.Operands[1];
  if (R.Is != Node::Kind::Name || R.Text != "none" ||
      !F.Tensors.contains(L.Text))
    return std::nullopt;
  return tensor(L, F).isValid() == (E.Is == Node::Kind::Ne);
}

std::optional<Expr> LayerWalker::comparison(const Node &E, Frame &F) {
  if (E.Is < Node::Kind::Eq || E.Is > Node::Kind::Ge ||
      !isNumber(E.Operands[0], F))
    return std::nullopt;
  const Expr L = number(E.Operands[0], F), R = number(E.Operands[1], F);
  const Expr One = ir::numberOf(P, 1);
  switch (E.Is) {
  case Node::Kind::Eq:
    return equal(L, R);
  case Node::Kind::Ne:
    return One + equal(L, R) * -1;
  case Node::Kind::Lt:
    return less(L, R);
  case Node::Kind::Ge:
    return One + less(L, R) * -1;
  case Node::Kind::Gt:
    return less(R, L);
  default:
    return One + less(R, L) * -1;
  }
}

/// Words of releases are in their order.
bool LayerWalker::compares(const Node &E, Frame &F) {
  if (const std::optional<bool> Is = aboutTensor(E, F))
    return *Is;
  if (const std::optional<Expr> Of = comparison(E, F)) {
    if (!HasFailed && !Of->hasValue())
      fail(E.Range, "the comparison has no value: a number is a fraction or "
                    "exceeds 2^63");
    return !HasFailed && decide(*Of) > 0;
  }
  const Scalar Left = scalar(E.Operands[0], F);
  const Scalar Right = scalar(E.Operands[1], F);
  if (HasFailed)
    return false;
  if (Left.index() != Right.index()) {
    fail(E.Range, "values of different types are compared");
    return false;
  }
  int Sign = Left < Right ? -1 : Left == Right ? 0 : 1;
  llvm::VersionTuple A, B;
  if (std::holds_alternative<std::string>(Left) &&
      !A.tryParse(std::get<std::string>(Left)) &&
      !B.tryParse(std::get<std::string>(Right)))
    Sign = A < B ? -1 : A == B ? 0 : 1;
  switch (E.Is) {
  case Node::Kind::Eq:
    return Sign == 0;
  case Node::Kind::Ne:
    return Sign != 0;
  case Node::Kind::Lt:
    return Sign < 0;
  case Node::Kind::Le:
    return Sign <= 0;
  case Node::Kind::Gt:
    return Sign > 0;
  default:
    return Sign >= 0;
  }
}

Expr LayerWalker::numberOf(const Node &E, Frame &F) {
  if (const auto Key = F.Keys.find(E.Text); Key != F.Keys.end())
    return number(*Key->second.Is, *Key->second.In);
  std::optional<Expr> Found;
  visitKey(E.Text, F, [&](const auto &Member) {
    if constexpr (std::is_same_v<std::decay_t<decltype(Member)>,
                                 Located<int64_t>>)
      if (Member.isPresent())
        Found.emplace(exprOf(P, Member));
  });
  if (Found)
    return *Found;
  fail(E.Range, "`" + E.Text + "` is not a number, or has no value here");
  return ir::numberOf(P, 1);
}

Expr LayerWalker::number(const Node &E, Frame &F) {
  const auto Deeper = nest();
  if (isBeyondLimits(E))
    return ir::numberOf(P, 1);
  auto Operand = [&](size_t I) { return number(E.Operands[I], F); };
  switch (E.Is) {
  case Node::Kind::Number: {
    int64_t Value = 0;
    if (E.Text.getAsInteger(10, Value))
      fail(E.Range, "`" + E.Text + "` is no count");
    return ir::numberOf(P, Value);
  }
  case Node::Kind::Name:
    return numberOf(E, F);
  case Node::Kind::Conditional:
    return Operand(holds(E.Operands[0], F) ? 1 : 2);
  case Node::Kind::Add:
    return Operand(0) + Operand(1);
  case Node::Kind::Sub:
    return Operand(0) + Operand(1) * -1;
  case Node::Kind::Mul:
    return Operand(0) * Operand(1);
  case Node::Kind::Div:
    return Operand(0) / Operand(1);
  case Node::Kind::Mod: {
    const Expr L = Operand(0), R = Operand(1);
    return {P.Sizes, P.Sizes.combine(ExprOp::Mod, L, R)};
  }
  default:
    fail(E.Range, "expected a number");
    return ir::numberOf(P, 1);
  }
}

ValueId LayerWalker::tensor(llvm::StringRef Name, SourceRange At, Frame &F) {
  const auto Found = F.Tensors.find(Name);
  if (Found != F.Tensors.end())
    return Found->second;
  if (Name != "none")
    fail(At, "no tensor `" + Name + "`");
  return {};
}

/// Gives \p To, a use of \p L, a key; whether \p L has one of that name, once.
bool LayerWalker::give(const layers::Layer &L, const layers::Argument &A,
                       Frame &From, Frame &To) {
  const bool IsKey = llvm::any_of(L.Body, [&](const layers::Statement &S) {
    return S.Is == layers::Statement::Kind::Key && S.Name == A.Name;
  });
  if (IsKey && To.Keys.try_emplace(A.Name, Lazy{&A.Value, &From}).second)
    return true;
  fail(A.Value.Range, IsKey ? "the key `" + A.Name + "` is given twice"
                            : "`" + L.Name + "` has no key `" + A.Name + "`");
  return false;
}

void LayerWalker::call(const layers::Statement &S, Frame &F) {
  constexpr unsigned MaxDepth = 32;
  const layers::Layer *L = findLayer(S.Name);
  if (!L)
    return fail(S.Range, "no layer `" + S.Name + "`");
  if (F.Depth == MaxDepth)
    return fail(S.Range,
                "calls of layers nest deeper than " + llvm::Twine(MaxDepth));
  Frame Inner;
  Inner.Path = nameIn(F.Path, S.As);
  Inner.Depth = F.Depth + 1;
  size_t Given = 0;
  for (const layers::Argument &A : S.Arguments) {
    if (!A.Name.empty() && !give(*L, A, F, Inner))
      return;
    if (!A.Name.empty())
      continue;
    if (Given == L->Inputs.size())
      return fail(A.Value.Range, "`" + S.Name + "` has " +
                                     llvm::Twine(L->Inputs.size()) + " inputs");
    Inner.Tensors[L->Inputs[Given++]] = tensor(A.Value, F);
  }
  if (Given < L->Inputs.size())
    return fail(S.Range, "`" + S.Name + "` needs `" + L->Inputs[Given] + "`");
  if (S.Tensors.size() != L->Outputs.size())
    return fail(S.Range, "`" + S.Name + "` has " +
                             llvm::Twine(L->Outputs.size()) + " outputs");
  const llvm::SaveAndRestore<SourceRange> Within(
      Caller, isOfLibrary(S) ? Caller : S.Range);
  run(L->Body, Inner);
  for (const auto &[T, Name] : llvm::zip_equal(S.Tensors, L->Outputs))
    if (!HasFailed && !isStopped())
      F.Tensors[T.Name] = tensor(Name, L->Range, Inner);
}

void LayerWalker::run(const layers::Statement &S, Frame &F) {
  using Kind = layers::Statement::Kind;
  if (isStopped() && S.Is != Kind::Key && S.Is != Kind::Let &&
      S.Is != Kind::Require)
    return;
  switch (S.Is) {
  case Kind::Key:
    if (F.IsOutermost ? !Of && !Block : !F.Keys.contains(S.Name)) {
      if (S.Values.empty())
        return fail(S.Range, "no value for the key `" + S.Name + "`");
      F.Keys.try_emplace(S.Name, Lazy{S.Values.begin(), &F});
    }
    return;
  case Kind::Let:
    F.Keys.insert_or_assign(S.Name, Lazy{S.Values.begin(), &F});
    return;
  case Kind::Require:
    return require(S, F);
  case Kind::Param:
  case Kind::Tied:
  case Kind::Input:
    return addSource(S, F);
  case Kind::From:
    return setOrigin(S, F);
  case Kind::If:
    return run(holds(S.Values.front(), F) ? S.Then : S.Else, F);
  case Kind::Op:
    return addOp(S, F);
  case Kind::Layer:
    return call(S, F);
  case Kind::Rename:
    if (S.Tensors.size() != 1)
      return fail(S.Range, "one tensor has one other name");
    F.Tensors[S.Tensors.front().Name] = tensor(S.Name, S.Range, F);
    return;
  }
}

void LayerWalker::run(llvm::ArrayRef<layers::Statement> Body, Frame &F) {
  for (const layers::Statement &S : Body) {
    if (isBeyondLimits({Node::Kind::Name, S.Name, {}, S.Range}))
      return;
    run(S, F);
  }
}

llvm::SmallVector<ValueId, 1>
LayerWalker::walk(const layers::Layer &L, llvm::ArrayRef<ValueId> Inputs) {
  Frame F;
  F.IsOutermost = true;
  if (Of) {
    Caller = Of->Range;
    if (L.Inputs.size() != 1 || L.Outputs.size() != 1) {
      fail(L.Range, "a layer of a block has one input and one output, the "
                    "hidden state");
      return {};
    }
  }
  for (const auto &[Input, V] : llvm::zip_equal(L.Inputs, Inputs))
    F.Tensors[Input] = V;
  run(L.Body, F);
  llvm::SmallVector<ValueId, 1> Outputs;
  for (llvm::StringRef Out : L.Outputs)
    if (!HasFailed && !isStopped())
      Outputs.push_back(tensor(Out, L.Range, F));
  if (Of && !HasFailed && !isStopped() && !Outputs.front().isValid())
    fail(L.Range, "`" + L.Outputs.front() + "` is no tensor");
  return Outputs;
}
