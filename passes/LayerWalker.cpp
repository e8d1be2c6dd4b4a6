// SPDX-License-Identifier: Apache-2.0
#include "passes/LayerWalker.h"
#include "lang/ShippedLayers.h"
#include "lang/diagnostics/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace foretrace;
using namespace foretrace::ir;

void LayerWalker::fail(SourceRange At, const llvm::Twine &What) {
  HasFailed = true;
  if (isStopped())
    return; // it follows from an error that was reported
  if (!At.isValid())
    At = Caller; // errors in the library are shown at its caller
  if (!At.isValid())
    llvm::report_fatal_error("in the text of a layer of the library: " + What);
  Diags.report(At, diag::LayerText, What.str());
}

const layers::Layer *foretrace::findCalled(const Spec &S,
                                           const layers::Statement &Call) {
  const auto Own = llvm::find_if(
      S.Layers, [&](const layers::Layer *L) { return L->Name == Call.Name; });
  const bool IsOfJob = Call.Range.isValid();
  return IsOfJob && Own != S.Layers.end() ? *Own : findShippedLayer(Call.Name);
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

ValueId LayerWalker::tensor(llvm::StringRef Name, SourceRange At, Frame &F) {
  if (isStopped())
    return {};
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
    return S.isKey() && S.Name == A.Name;
  });
  if (IsKey && To.Keys.try_emplace(A.Name, Lazy{&A.Value, &From}).second)
    return true;
  fail(A.Value.Range, IsKey ? "the key `" + A.Name + "` is given twice"
                            : "`" + L.Name + "` has no key `" + A.Name + "`");
  return false;
}

void LayerWalker::call(const layers::Statement &S, Frame &F) {
  const layers::Layer *L = findCalled(P.Spec, S);
  if (!L)
    return fail(S.Range, "no layer `" + S.Name + "`");
  if (F.Depth == MaxDepth)
    return fail(S.Range,
                "calls of layers nest deeper than " + llvm::Twine(MaxDepth));
  Frame Inner;
  Inner.Path = nameIn(F.Path, S.As);
  Inner.Part = F.Part;
  Inner.Weights = F.Weights;
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
  endUse(Inner);
  for (const auto &[T, Name] : llvm::zip_equal(S.Tensors, L->Outputs))
    if (!HasFailed && !isStopped())
      F.Tensors[T.Name] = tensor(Name, L->Range, Inner);
}

/// Reports a value that a call gives to \p Key and that the key cannot have.
void LayerWalker::checkGiven(const layers::Statement &Key, Frame &F) {
  const Lazy Given = F.Keys.find(Key.Name)->second;
  if (Key.Is == layers::Statement::Kind::Same)
    return fail(Given.Is->Range,
                "the key `" + Key.Name + "` cannot be given, it has one value");
  if (Key.Can.Words.empty() || isStopped())
    return;
  const Scalar Is = scalar(*Given.Is, *Given.In);
  const auto *Word = std::get_if<std::string>(&Is);
  if (!HasFailed && (!Word || !llvm::is_contained(Key.Can.Words, *Word)))
    fail(Given.Is->Range,
         "`" + Key.Name + "` is one of " + llvm::join(Key.Can.Words, ", "));
}

/// Returns whether \p E asks for a tensor.
static bool isAboutTensors(const layers::Expr &E) {
  return (E.Is == layers::Expr::Kind::Name && E.Text == "none") ||
         llvm::any_of(E.Operands, isAboutTensors);
}

/// Returns whether \p S has a requirement on keys, itself or inside; without
/// tensors nothing depends on them.
static bool isRule(const layers::Statement &S) {
  using Kind = layers::Statement::Kind;
  switch (S.Is) {
  case Kind::Key:
  case Kind::Same:
  case Kind::Let:
  case Kind::Require:
    return true;
  case Kind::Module:
  case Kind::Weights:
    return llvm::any_of(S.Then, isRule);
  case Kind::If:
    return !isAboutTensors(S.Values.front()) &&
           (llvm::any_of(S.Then, isRule) || llvm::any_of(S.Else, isRule));
  case Kind::Layer:
    return true;
  default:
    return false;
  }
}

void LayerWalker::run(const layers::Statement &S, Frame &F) {
  using Kind = layers::Statement::Kind;
  if (isStopped() && !isRule(S))
    return;
  switch (S.Is) {
  case Kind::Key:
  case Kind::Same:
    if (!F.IsOutermost && F.Keys.contains(S.Name))
      return checkGiven(S, F);
    if (!F.IsOutermost || !Of) {
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
  case Kind::Shared:
  case Kind::Input:
    return addSource(S, F);
  case Kind::From:
    return setOrigin(S, F);
  case Kind::Part:
    F.Part = S.As;
    return;
  case Kind::Weights: {
    const llvm::SaveAndRestore<llvm::StringRef> Within(F.Weights, S.Name);
    return run(S.Then, F);
  }
  case Kind::Module:
    enterModule(S, F);
    run(S.Then, F);
    return leaveModule();
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
  F.Part = Part;
  if (Of) {
    Caller = Of->Range;
    if (L.Inputs.empty() || L.Outputs.empty()) {
      fail(L.Range, "a layer of a block has an input and an output, the hidden "
                    "state");
      return {};
    }
  }
  for (const auto &[Input, V] : llvm::zip_equal(L.Inputs, Inputs))
    F.Tensors[Input] = V;
  run(L.Body, F);
  endUse(F);
  llvm::SmallVector<ValueId, 1> Outputs;
  for (llvm::StringRef Out : L.Outputs)
    if (!HasFailed && !isStopped())
      Outputs.push_back(tensor(Out, L.Range, F));
  for (const auto &[Name, V] : llvm::zip(L.Outputs, Outputs))
    if (Of && !HasFailed && !V.isValid())
      fail(L.Range, "`" + Name + "` is no tensor");
  return Outputs;
}
