// SPDX-License-Identifier: Apache-2.0
//
// elaborate: from the spec to the model level. Every kind of layer becomes one
// block of forward ops on whole tensors, with Megatron-LM's module names; the
// layer pattern stays folded. Nothing here knows how the job is spread.

#include "lang/ShippedLayers.h"
#include "lang/diagnostics/Passes.h"
#include "passes/LayerBody.h"
#include "passes/Passes.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// Makes the model level of a program from its spec.
class Elaborator {
public:
  Elaborator(Program &P, DiagnosticEngine &Diags)
      : P(P), S(P.Spec), Diags(Diags) {}

  bool run();

private:
  llvm::SmallVector<ValueId, 1> end(BlockBuilder &B, llvm::StringRef Name,
                                    llvm::ArrayRef<ValueId> Inputs);
  llvm::SmallVector<ValueId, 1> sublayer(BlockBuilder &B, const LayerUse &Of,
                                         llvm::StringRef Section,
                                         llvm::ArrayRef<ValueId> Inputs);
  void embedding();
  void layer(const BlockSpec &Spec);
  void head();

  Program &P;
  const Spec &S;
  DiagnosticEngine &Diags;
  bool IsDone = true;
};

} // namespace

void Elaborator::embedding() {
  Block Blk;
  Blk.Name = "embedding";
  Blk.Range = S.Model.Vocab.Range;
  BlockBuilder B(Blk, "elaborate");
  B.setOrigin(S.Model.Vocab.Range, "token embedding");
  Blk.Signature.Outputs = end(B, "embedding", {});
  P.Blocks.add(std::move(Blk));
}

/// Appends an end of the model.
llvm::SmallVector<ValueId, 1> Elaborator::end(BlockBuilder &B,
                                              llvm::StringRef Name,
                                              llvm::ArrayRef<ValueId> Inputs) {
  LayerBody Body(P, B, nullptr, Diags);
  auto Outputs = Body.add(*findShippedLayer(Name), Inputs);
  IsDone &= Body.isGood();
  return Outputs;
}

/// Appends a layer of a block.
llvm::SmallVector<ValueId, 1>
Elaborator::sublayer(BlockBuilder &B, const LayerUse &Of,
                     llvm::StringRef Section, llvm::ArrayRef<ValueId> Inputs) {
  B.setOrigin(Of.Range, Section);
  if (!Of.Is) {
    Diags.report(Of.Range, diag::LayerUnknown, Of.Kind);
    IsDone = false;
    return {};
  }
  LayerBody Body(P, B, &Of, Diags);
  auto Outputs = Body.add(*Of.Is, Inputs);
  IsDone &= Body.isGood();
  return Outputs;
}

void Elaborator::layer(const BlockSpec &Spec) {
  Block Blk;
  Blk.Name = Spec.Name;
  Blk.Range = Spec.Range;
  BlockBuilder B(Blk, "elaborate");
  B.setOrigin(Spec.Mixer.Range, "attention");
  const ValueId X = B.value(ValueKind::Input, "x", LayerBody::hiddenType(P));
  Blk.Signature.Inputs = {X};
  const auto Mid = sublayer(B, Spec.Mixer, "attention", {X});
  if (!IsDone)
    return;
  Blk.Signature.Outputs = sublayer(B, Spec.Network, "ffn", Mid);
  if (llvm::is_contained(Blk.Signature.Outputs, X)) {
    Diags.report(Spec.Range, diag::BlockEmpty, Spec.Name);
    IsDone = false;
  }
  P.Blocks.add(std::move(Blk));
}

void Elaborator::head() {
  Block Blk;
  Blk.Name = "head";
  Blk.Range = S.Model.Vocab.Range;
  BlockBuilder B(Blk, "elaborate");
  B.setOrigin(S.Model.Vocab.Range, "output layer");
  const ValueId X = B.value(ValueKind::Input, "x", LayerBody::hiddenType(P));
  Blk.Signature.Inputs = {X};
  end(B, "head", {X});
  P.Blocks.add(std::move(Blk));
}

bool Elaborator::run() {
  constexpr size_t Ends = 2, Steps = 4; // steps come with `sync`
  P.Blocks.reserve(S.Model.Blocks.size() + Ends + Steps);
  embedding();
  std::vector<BlockId> Ids;
  for (const BlockSpec &B : S.Model.Blocks) {
    Ids.push_back(P.Blocks.idAt(P.Blocks.size()));
    layer(B);
    if (!IsDone)
      return false;
  }
  BlockId Head = P.Blocks.idAt(P.Blocks.size());
  head();
  P.Layers.push_back({1, {{P.Blocks.idAt(0), 1}}});
  for (const LayerRun &R : S.Model.Layers) {
    LayerGroup G;
    G.Periods = R.Periods;
    for (const LayerRun::Item &I : R.Items)
      G.Runs.push_back({Ids[I.Block], I.Count});
    P.Layers.push_back(std::move(G));
  }
  P.Layers.push_back({1, {{Head, 1}}});
  return true;
}

bool foretrace::elaborate(Program &P, DiagnosticEngine &Diags) {
  return Elaborator(P, Diags).run();
}
