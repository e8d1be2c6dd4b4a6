// SPDX-License-Identifier: Apache-2.0
#include "ir/text/Print.h"
#include "ir/verify/VerifyParts.h"
#include "lang/diagnostics/IR.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <set>

using namespace foretrace;
using namespace foretrace::ir;

static std::string describe(const Program &P, const Value &V) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  print(P, V.Type, V.Layout, OS);
  return Text;
}

static std::string describe(const Program &P, const Block &B,
                            const Signature::List &L) {
  std::string Text;
  for (ValueId V : L)
    Text += (Text.empty() ? "" : ", ") + describe(P, B.Values[V]);
  return Text.empty() ? "nothing" : Text;
}

static bool isAlike(const Value &A, const Value &B) {
  return A.Type.Element == B.Type.Element && A.Type.Dims == B.Type.Dims &&
         A.Layout == B.Layout;
}

static bool isAlike(const Block &A, const Signature::List &OfA, const Block &B,
                    const Signature::List &OfB) {
  return OfA.size() == OfB.size() &&
         llvm::all_of(llvm::zip(OfA, OfB), [&](const auto &Pair) {
           return isAlike(A.Values[std::get<0>(Pair)],
                          B.Values[std::get<1>(Pair)]);
         });
}

/// Checks that the values of a list are of \p Kind, and made by an op or by
/// none; outputs can be inputs.
static void verifyList(const Block &B, const Signature::List &L,
                       llvm::StringRef Role, ValueKind Kind,
                       std::optional<bool> IsMade, DiagnosticEngine &Diags) {
  for (ValueId Id : L) {
    const Value &V = B.Values[Id];
    if (&L == &B.Signature.Outputs &&
        llvm::is_contained(B.Signature.Inputs, Id))
      continue;
    const bool HasMaker = llvm::any_of(
        B.Ops, [&](const Op &O) { return llvm::is_contained(O.Results, Id); });
    if (V.Kind != Kind)
      Diags.report(B.Range, diag::VerifySignature, V.Name, Role, B.Name,
                   "is of another kind");
    else if (IsMade && *IsMade != HasMaker)
      Diags.report(B.Range, diag::VerifySignature, V.Name, Role, B.Name,
                   *IsMade ? "is made by no op" : "is made by an op");
  }
}

/// Checks that gradients are in the order of their values, with their types.
static void verifyGradients(const Program &P, const Block &B,
                            const Signature::List &Gradients,
                            Signature::List Of, bool AreThere,
                            DiagnosticEngine &Diags) {
  llvm::erase_if(Of, [&](ValueId V) {
    return !isFloat(B.Values[V].Type.Element) || B.Values[V].Detached;
  });
  if (!AreThere && Gradients.empty())
    return;
  if (Gradients.size() != Of.size()) {
    Diags.report(B.Range, diag::VerifySignatureGradients, B.Name,
                 Gradients.size(), Of.size());
    return;
  }
  for (auto [Gradient, Id] : llvm::zip(Gradients, Of))
    if (const Value &G = B.Values[Gradient], &V = B.Values[Id]; !isAlike(G, V))
      Diags.report(B.Range, diag::VerifyGradient, G.Name, describe(P, G),
                   V.Name, describe(P, V));
}

static void verifyOne(const Program &P, const Block &B,
                      DiagnosticEngine &Diags) {
  const Signature &S = B.Signature;
  const bool AreThere = P.Facts.contains(Fact::Gradients) && !P.Spec.Serve;
  verifyList(B, S.Inputs, "an input", ValueKind::Input, false, Diags);
  verifyList(B, S.Outputs, "an output", ValueKind::Activation, true, Diags);
  verifyList(B, S.OutputGradients, "the gradient of an output",
             ValueKind::Gradient, false, Diags);
  verifyList(B, S.InputGradients, "the gradient of an input",
             ValueKind::Gradient, std::nullopt, Diags);
  verifyGradients(P, B, S.OutputGradients, S.Outputs, AreThere, Diags);
  verifyGradients(P, B, S.InputGradients, S.Inputs, AreThere, Diags);
}

/// Checks that a signature has the values that the spec of the block names.
static void verifyPassed(const Program &P, const Block &B,
                         DiagnosticEngine &Diags) {
  const BlockSpec *Spec = P.Spec.Model.findBlock(B.Name);
  if (!Spec || (Spec->Receives.empty() && Spec->Passes.empty()))
    return;
  const Signature &S = B.Signature;
  if (S.Inputs.size() != Spec->Receives.size() + 1 ||
      S.Outputs.size() != Spec->Passes.size() + 1)
    Diags.report(B.Range, diag::VerifyPassed, B.Name, S.Inputs.size(),
                 S.Outputs.size(), Spec->Receives.size() + 1,
                 Spec->Passes.size() + 1);
}

/// Visits two blocks for every place in \p S where one follows the other; the
/// places of a group that repeats are visited once.
static void
forEachNeighbours(const LayerSequence &S,
                  llvm::function_ref<void(BlockId, BlockId)> Visit) {
  BlockId Before;
  for (const LayerGroup &G : S) {
    if (Before.isValid())
      Visit(Before, G.Runs.front().Block);
    Before = {};
    for (const BlockRun &R : G.Runs) {
      if (Before.isValid())
        Visit(Before, R.Block);
      if (R.Count > 1)
        Visit(R.Block, R.Block);
      Before = R.Block;
    }
    if (G.Periods > 1)
      Visit(Before, G.Runs.front().Block);
  }
}

static void verifyNeighbours(const Program &P, const Block &First,
                             const Block &Next, DiagnosticEngine &Diags) {
  auto Check = [&](const Block &From, const Signature::List &Sent,
                   const Block &To, const Signature::List &Taken) {
    if (!isAlike(From, Sent, To, Taken))
      Diags.report(From.Range, diag::VerifyNeighbours, From.Name,
                   describe(P, From, Sent), To.Name, describe(P, To, Taken));
  };
  Check(First, First.Signature.Outputs, Next, Next.Signature.Inputs);
  Check(Next, Next.Signature.InputGradients, First,
        First.Signature.OutputGradients);
}

void foretrace::ir::verifySignatures(const Program &P,
                                     DiagnosticEngine &Diags) {
  for (const Block &B : P.Blocks) {
    verifyOne(P, B, Diags);
    verifyPassed(P, B, Diags);
  }
  std::set<std::pair<unsigned, unsigned>> Seen;
  forEachNeighbours(P.Layers, [&](BlockId First, BlockId Next) {
    if (Seen.insert({First.Index, Next.Index}).second)
      verifyNeighbours(P, P.Blocks[First], P.Blocks[Next], Diags);
  });
}
