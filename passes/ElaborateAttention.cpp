// SPDX-License-Identifier: Apache-2.0
//
// The part of `elaborate` that concerns attention.

#include "ir/model/OpKinds.h"
#include "passes/Elaborator.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Returns \p Operands, query, keys and values, as core attention reads them.
/// An unfused kernel multiplies whole matrices of a head, so that a group of
/// heads has copies of its keys and values; its queries, which are not side by
/// side in what the projection made, are copied, too (Megatron-LM,
/// transformer/dot_product_attention.py, repeat_interleave and reshape;
/// Transformer Engine, attention/dot_product_attention/backends.py,
/// UnfusedDotProductAttention).
llvm::SmallVector<ValueId, 4>
Elaborator::headByHead(BlockBuilder &B, const AttentionSpec &A,
                       llvm::ArrayRef<ValueId> Operands) {
  if (*S.Train.AttentionBackend != AttentionBackendKind::Unfused ||
      *A.Kind == AttentionKind::MLA || *A.KvHeads == *A.Heads)
    return llvm::SmallVector<ValueId, 4>(Operands);
  const Expr Channels = of(A.Heads) * of(A.HeadDim);
  llvm::SmallVector<ValueId, 4> Repeated;
  for (const ValueId V : Operands) {
    const Value Of = B.block().Values[V];
    TensorType T = Of.Type;
    const bool IsBoth =
        Operands.size() == 2 && Of.Type.Dims[0].Kind == DimKind::KvSeq;
    T.Dims.back().Size = IsBoth ? Channels * 2 : Channels;
    Repeated.push_back(B.value(ValueKind::Activation, Of.Name + ".heads", T));
  }
  B.op(OpKind::Repeat, "core_attention", Operands, Repeated);
  return Repeated;
}

/// Of the query and of keys and values. An unfused kernel keeps the softmax of
/// the scores and, with dropout, what is left of it and the mask (Korthikanti
/// et al., arXiv 2205.05198, section 4.1); a fused one makes them again in
/// backward.
ValueId Elaborator::coreAttention(BlockBuilder &B, const AttentionSpec &A,
                                  llvm::ArrayRef<ValueId> Operands,
                                  Expr Channels) {
  llvm::SmallVector<ValueId, 4> Results = {B.value(
      ValueKind::Activation, "context", tokens({{DimKind::Heads, Channels}}))};
  if (*S.Train.AttentionBackend == AttentionBackendKind::Unfused) {
    TensorType Scores = tokens({{DimKind::Heads, of(A.Heads)}});
    Scores.Dims.insert(Scores.Dims.begin() + 1,
                       {DimKind::KvSeq, of(S.Train.Sequence)});
    auto Keep = [&](llvm::StringRef Name) {
      Results.push_back(B.value(ValueKind::Activation, Name, Scores));
    };
    Keep("softmax");
    if (*S.Train.Dropout) {
      Keep("softmax.dropout");
      Scores.Element = ElementType::Bool;
      Keep("softmax.mask");
    }
  }
  B.op(OpKind::Attention, "core_attention", headByHead(B, A, Operands),
       Results);
  return Results.front();
}

/// Multi-head, grouped-query or multi-query attention. Query, key and value
/// come from one projection, as in Megatron-LM's SelfAttention.
ValueId Elaborator::selfAttention(BlockBuilder &B, const AttentionSpec &A,
                                  ValueId X) {
  const Expr Query = of(A.Heads) * of(A.HeadDim);
  const Expr Key = of(A.KvHeads) * of(A.HeadDim);
  ValueId Qkv = linear(B, "linear_qkv", X, hidden(),
                       {DimKind::Heads, Query + Key * 2}, *S.Model.QkvBias);
  auto Part = [&](llvm::StringRef Name, DimKind Tokens, Expr Channels) {
    TensorType T = tokens({{DimKind::Heads, Channels}});
    T.Dims[0].Kind = Tokens;
    return B.value(ValueKind::Activation, Name, T);
  };
  ValueId Q = Part("query", DimKind::Seq, Query);
  if (!*A.QkNorm) {
    ValueId KeyValue = Part("key_value", DimKind::KvSeq, Key * 2);
    B.op(OpKind::Split, "linear_qkv", {Qkv}, {Q, KeyValue});
    return coreAttention(B, A, {Q, KeyValue}, Query);
  }
  // The value is not normalised.
  ValueId K = Part("key", DimKind::KvSeq, Key);
  ValueId V = Part("value", DimKind::KvSeq, Key);
  B.op(OpKind::Split, "linear_qkv", {Qkv}, {Q, K, V});
  auto Normed = [&](std::string Name, ValueId X) {
    ValueId Weight =
        B.param(Name + ".weight", type({{DimKind::HeadDim, of(A.HeadDim)}}));
    return B.compute(OpKind::Norm, Name, {X, Weight}, Name + ".out",
                     B.block().Values[X].Type);
  };
  Q = Normed("q_layernorm", Q);
  K = Normed("k_layernorm", K);
  return coreAttention(B, A, {Q, K, V}, Query);
}

/// The query of latent attention, in one projection to all heads or two.
ValueId Elaborator::latentQuery(BlockBuilder &B, const AttentionSpec &A,
                                ValueId X) {
  Dim In = hidden();
  llvm::StringRef Name = "linear_q_proj";
  if (*A.QLora > 0) {
    const Dim Rank{DimKind::Lora, of(A.QLora)};
    X = norm(B, "q_layernorm",
             linear(B, "linear_q_down_proj", X, In, Rank, false));
    In = Rank;
    Name = "linear_q_up_proj";
  }
  const Dim Query{DimKind::Heads,
                  of(A.Heads) * (of(A.NopeDim) + of(A.RopeDim))};
  if (*A.QRopeTp)
    return linear(B, Name, X, In, Query, false);
  const ValueId Parts[] = {
      linear(B, Name, X, In, {DimKind::Heads, of(A.Heads) * of(A.NopeDim)},
             false),
      linear(B, "linear_q_rope_proj", X, In,
             {DimKind::Whole, of(A.Heads) * of(A.RopeDim)}, false)};
  return B.compute(OpKind::Concat, "query", Parts, "query", tokens({Query}));
}

/// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434 section 2.1).
ValueId Elaborator::latentAttention(BlockBuilder &B, const AttentionSpec &A,
                                    ValueId X) {
  ValueId Q = latentQuery(B, A, X);
  Dim Rank{DimKind::Lora, of(A.KvLora)};
  ValueId Down = linear(B, "linear_kv_down_proj", X, hidden(),
                        {DimKind::Lora, of(A.KvLora) + of(A.RopeDim)}, false);
  ValueId Compressed =
      B.value(ValueKind::Activation, "kv_compressed", tokens({Rank}));
  TensorType RotaryType = tokens({{DimKind::Lora, of(A.RopeDim)}});
  RotaryType.Dims[0].Kind = DimKind::KvSeq;
  ValueId Rotary = B.value(ValueKind::Activation, "k_pos_emb", RotaryType);
  B.op(OpKind::Split, "linear_kv_down_proj", {Down}, {Compressed, Rotary});
  Dim Own{DimKind::Heads, of(A.Heads) * (of(A.NopeDim) + of(A.VDim))};
  ValueId Up = linear(B, "linear_kv_up_proj",
                      norm(B, "kv_layernorm", Compressed), Rank, Own, false);
  TensorType KeyValueType = tokens({Own});
  KeyValueType.Dims[0].Kind = DimKind::KvSeq;
  ValueId Heads = B.value(ValueKind::Activation, "kv_heads", KeyValueType);
  B.op(OpKind::Split, "linear_kv_up_proj", {Up}, {Heads});
  // Every head gets a copy of the rotary key, before anything is exchanged.
  KeyValueType.Dims.back().Size =
      of(A.Heads) * (of(A.NopeDim) + of(A.VDim) + of(A.RopeDim));
  ValueId Kv = B.compute(OpKind::Concat, "key_value", {Heads, Rotary},
                         "key_value", KeyValueType);
  return coreAttention(B, A, {Q, Kv}, of(A.Heads) * of(A.VDim));
}

ValueId Elaborator::attention(BlockBuilder &B, const AttentionSpec &A,
                              ValueId X) {
  bool Latent = *A.Kind == AttentionKind::MLA;
  ValueId Context = Latent ? latentAttention(B, A, X) : selfAttention(B, A, X);
  return linear(B, "linear_proj", Context,
                B.block().Values[Context].Type.Dims.back(), hidden(),
                *S.Model.Bias && !Latent);
}
