// SPDX-License-Identifier: Apache-2.0
//
// elaborate: from the spec to the model level. Every kind of layer becomes one
// block of forward ops on whole tensors, with Megatron-LM's module names; the
// layer pattern stays folded. Nothing here knows how the job is spread.

#include "passes/LayerBody.h"
#include "passes/Passes.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// Makes the model level of a program from its spec.
class Elaborator {
public:
  explicit Elaborator(Program &P) : P(P), S(P.Spec) {}

  void run();

private:
  void embedding();
  void layer(const BlockSpec &Spec);
  void head();
  TensorType residual() const;

  Program &P;
  const Spec &S;
};

} // namespace

void Elaborator::embedding() {
  Block Blk;
  Blk.Name = "embedding";
  Blk.Range = S.Model.Vocab.Range;
  BlockBuilder B(Blk, "elaborate");
  B.setOrigin(S.Model.Vocab.Range, "token embedding");
  Blk.Signature.Outputs = LayerBody(P, B).add("embedding", {});
  P.Blocks.add(std::move(Blk));
}

TensorType Elaborator::residual() const {
  return {elementTypeOf(*S.Train.Precision),
          {{DimKind::Seq, exprOf(P, S.Train.Sequence)},
           {DimKind::Batch, exprOf(P, S.Train.MicroBatch)},
           {DimKind::Hidden, exprOf(P, S.Model.Hidden)}}};
}

void Elaborator::layer(const BlockSpec &Spec) {
  Block Blk;
  Blk.Name = Spec.Name;
  Blk.Range = Spec.Range;
  BlockBuilder B(Blk, "elaborate");
  LayerBody Body(P, B, &Spec);
  B.setOrigin(Spec.Attention.Range, "attention");
  const ValueId X = B.value(ValueKind::Input, "x", residual());
  Blk.Signature.Inputs = {X};
  const bool IsLatent = *Spec.Attention.Kind == AttentionKind::MLA;
  const auto Mid = Body.add(IsLatent ? "mla" : "gqa", {X});
  B.setOrigin(Spec.Moe ? Spec.Moe->Experts.Range : Spec.Ffn.Range,
              Spec.Moe ? "experts" : "ffn");
  Blk.Signature.Outputs = Body.add(Spec.Moe ? "experts" : "dense", Mid);
  P.Blocks.add(std::move(Blk));
}

void Elaborator::head() {
  Block Blk;
  Blk.Name = "head";
  Blk.Range = S.Model.Vocab.Range;
  BlockBuilder B(Blk, "elaborate");
  B.setOrigin(S.Model.Vocab.Range, "output layer");
  const ValueId X = B.value(ValueKind::Input, "x", residual());
  Blk.Signature.Inputs = {X};
  LayerBody(P, B).add("head", {X});
  P.Blocks.add(std::move(Blk));
}

void Elaborator::run() {
  constexpr size_t Ends = 2, Steps = 4; // steps come with `sync`
  P.Blocks.reserve(S.Model.Blocks.size() + Ends + Steps);
  embedding();
  std::vector<BlockId> Ids;
  for (const BlockSpec &B : S.Model.Blocks) {
    Ids.push_back(P.Blocks.idAt(P.Blocks.size()));
    layer(B);
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
}

bool foretrace::elaborate(Program &P, DiagnosticEngine &) {
  Elaborator(P).run();
  return true;
}
