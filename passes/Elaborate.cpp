// SPDX-License-Identifier: Apache-2.0
//
// elaborate: from the spec to the model level. Every kind of layer becomes one
// block of forward ops on whole tensors, with Megatron-LM's module names; the
// layer pattern stays folded. Nothing here knows how the job is spread.

#include "ir/model/OpKinds.h"
#include "passes/Elaborator.h"
#include "passes/Passes.h"

using namespace foretrace;
using namespace foretrace::ir;

TensorType Elaborator::tokens(llvm::ArrayRef<Dim> More) const {
  TensorType T = type({{DimKind::Seq, of(S.Train.Sequence)},
                       {DimKind::Batch, of(S.Train.MicroBatch)}});
  T.Dims.append(More.begin(), More.end());
  return T;
}

/// What the data loader reads of every token.
ValueId Elaborator::batch(BlockBuilder &B, llvm::StringRef Name,
                          ElementType Element) {
  TensorType T = tokens({});
  T.Element = Element;
  return B.value(ValueKind::Input, Name, T);
}

/// A byte for every pair of tokens. A fused kernel doesn't read it.
void Elaborator::attentionMask(BlockBuilder &B) {
  TensorType T = tokens({});
  T.Element = ElementType::Bool;
  T.Dims.insert(T.Dims.begin(), {DimKind::KvSeq, of(S.Train.Sequence)});
  B.value(ValueKind::Input, "attention_mask", T);
}

ValueId Elaborator::norm(BlockBuilder &B, llvm::StringRef Name, ValueId X) {
  const TensorType T = B.block().Values[X].Type;
  llvm::SmallVector<ValueId, 3> Operands = {
      X, B.param((Name + ".weight").str(), type({T.Dims.back()}))};
  if (*S.Model.Norm == NormKind::LayerNorm)
    Operands.push_back(B.param((Name + ".bias").str(), type({T.Dims.back()})));
  return B.compute(OpKind::Norm, Name, Operands, (Name + ".out").str(), T);
}

/// X with elements set to zero at random, if the job has dropout.
ValueId Elaborator::dropout(BlockBuilder &B, llvm::StringRef Name, ValueId X) {
  if (!*S.Train.Dropout)
    return X;
  TensorType T = B.block().Values[X].Type;
  ValueId Out = B.value(ValueKind::Activation, (Name + ".dropout").str(), T);
  T.Element = ElementType::Bool;
  ValueId Mask = B.value(ValueKind::Activation, (Name + ".mask").str(), T);
  B.op(OpKind::Dropout, Name, {X}, {Out, Mask});
  return Out;
}

/// X [.., In] times a weight [In, Out], plus a bias [Out].
ValueId Elaborator::linear(BlockBuilder &B, llvm::StringRef Name, ValueId X,
                           Dim In, Dim Out, bool Bias) {
  TensorType T = B.block().Values[X].Type;
  T.Dims.back() = Out;
  ValueId W = B.param((Name + ".weight").str(), type({In, Out}));
  ValueId Y = B.compute(OpKind::MatMul, Name, {X, W}, (Name + ".out").str(), T);
  if (!Bias)
    return Y;
  ValueId Vector = B.param((Name + ".bias").str(), type({Out}));
  return B.compute(OpKind::BiasAdd, Name, {Y, Vector}, (Name + ".sum").str(),
                   T);
}

ValueId Elaborator::mlp(BlockBuilder &B, llvm::StringRef Prefix,
                        const FfnSpec &F, Dim Inner, ValueId X) {
  const int64_t Parts = isGated(*F.Activation) ? 2 : 1;
  const Dim Wide{Inner.Kind, Expr(P.Sizes, Inner.Size) * Parts};
  ValueId Up = linear(B, (Prefix + "linear_fc1").str(), X, hidden(), Wide,
                      *F.LinearBias);
  ValueId Hot =
      B.compute(OpKind::Activation, (Prefix + "activation").str(), {Up},
                (Prefix + "activation.out").str(), tokens({Inner}));
  return linear(B, (Prefix + "linear_fc2").str(), Hot, Inner, hidden(),
                *F.LinearBias);
}

void Elaborator::embedding() {
  Block Blk;
  Blk.Name = "embedding";
  Blk.Range = S.Model.Vocab.Range;
  BlockBuilder B(Blk, "elaborate");
  B.setOrigin(S.Model.Vocab.Range, "token embedding");
  ValueId Tokens = batch(B, "tokens", ElementType::I64);
  ValueId PositionIds = batch(B, "position_ids", ElementType::I64);
  if (*S.Train.AttentionMask)
    attentionMask(B);
  ValueId Table =
      B.param("word_embeddings.weight",
              type({{DimKind::Vocab, of(S.Model.PaddedVocab)}, hidden()}));
  ValueId X = B.compute(OpKind::Embed, "word_embeddings", {Tokens, Table},
                        "word_embeddings.out", residual());
  if (*S.Model.Positions == PositionKind::Learned) {
    B.setOrigin(S.Model.MaxPositions.Range, "position embedding");
    ValueId Rows = B.param(
        "position_embeddings.weight",
        type({{DimKind::Position, of(S.Model.MaxPositions)}, hidden()}));
    ValueId Pos =
        B.compute(OpKind::Embed, "position_embeddings", {PositionIds, Rows},
                  "position_embeddings.out", residual());
    X = B.compute(OpKind::Add, "position_embeddings", {X, Pos}, "embedding.out",
                  residual());
  }
  Blk.Signature.Outputs = {dropout(B, "embedding", X)};
  P.Blocks.add(std::move(Blk));
}

void Elaborator::layer(const BlockSpec &Spec) {
  Block Blk;
  Blk.Name = Spec.Name;
  Blk.Range = Spec.Range;
  BlockBuilder B(Blk, "elaborate");
  B.setOrigin(Spec.Attention.Range, "attention");
  ValueId X = B.value(ValueKind::Input, "x", residual());
  ValueId A = attention(B, Spec.Attention, norm(B, "input_layernorm", X));
  ValueId Mid = B.compute(OpKind::Add, "self_attention",
                          {X, dropout(B, "self_attention", A)},
                          "self_attention.out", residual());
  B.setOrigin(Spec.Moe ? Spec.Moe->Experts.Range : Spec.Ffn.Range,
              Spec.Moe ? "experts" : "ffn");
  ValueId N = norm(B, "pre_mlp_layernorm", Mid);
  ValueId F = Spec.Moe ? experts(B, Spec, N)
                       : mlp(B, "", Spec.Ffn,
                             {DimKind::Ffn, of(Spec.Ffn.Intermediate)}, N);
  ValueId Out = B.compute(OpKind::Add, "mlp", {Mid, dropout(B, "mlp", F)},
                          "mlp.out", residual());
  Blk.Signature.Inputs = {X};
  Blk.Signature.Outputs = {Out};
  P.Blocks.add(std::move(Blk));
}

/// Vocabulary-parallel cross entropy reduces three terms per token, in two
/// passes over the logits (Megatron-LM, core/tensor_parallel/cross_entropy.py).
void Elaborator::crossEntropy(BlockBuilder &B, ValueId Logits, ValueId Labels,
                              ValueId LossMask) {
  TensorType Wide = B.block().Values[Logits].Type;
  Wide.Element = ElementType::FP32;
  if (!*S.Train.FusedLoss && Element != ElementType::FP32)
    Logits =
        B.compute(OpKind::Cast, "cross_entropy", {Logits}, "logits.fp32", Wide);
  TensorType PerToken = tokens({});
  PerToken.Element = ElementType::FP32;
  ValueId Max = B.compute(OpKind::Reduce, "cross_entropy", {Logits},
                          "logits_max", PerToken);
  ValueId Target = B.value(ValueKind::Activation, "target_logit", PerToken);
  ValueId Sum = B.value(ValueKind::Activation, "sum_exp", PerToken);
  B.op(OpKind::Reduce, "cross_entropy", {Logits, Max, Labels}, {Target, Sum});
  B.compute(OpKind::Loss, "cross_entropy", {Max, Target, Sum, LossMask}, "loss",
            PerToken);
}

void Elaborator::head() {
  Block Blk;
  Blk.Name = "head";
  Blk.Range = S.Model.Vocab.Range;
  BlockBuilder B(Blk, "elaborate");
  B.setOrigin(S.Model.Vocab.Range, "output layer");
  ValueId X = B.value(ValueKind::Input, "x", residual());
  Blk.Signature.Inputs = {X};
  ValueId N = norm(B, "final_layernorm", X);
  Dim Vocab{DimKind::Vocab, of(S.Model.PaddedVocab)};
  ValueId Labels = batch(B, "labels", ElementType::I64);
  ValueId LossMask = batch(B, "loss_mask", ElementType::FP32);
  // One stage reads it once.
  if (*S.Train.AttentionMask && *S.Parallel.Pp > 1)
    attentionMask(B);
  ValueId W = B.param("output_layer.weight", type({Vocab, hidden()}));
  Blk.Values[W].Tied = *S.Model.Tied;
  ValueId Logits = B.compute(OpKind::MatMul, "output_layer", {N, W}, "logits",
                             tokens({Vocab}));
  B.setOrigin(S.Model.Vocab.Range, "cross entropy");
  crossEntropy(B, Logits, Labels, LossMask);
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
