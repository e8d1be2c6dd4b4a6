// SPDX-License-Identifier: Apache-2.0
//
// elaborate: from the spec to the model level. Every kind of layer becomes one
// block of forward ops on whole tensors, with Megatron-LM's module names; the
// layer pattern stays folded. Nothing here knows how the job is spread.

#include "passes/BlockBuilder.h"
#include "passes/Passes.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

class Elaborator {
public:
  explicit Elaborator(Program &P)
      : P(P), S(P.Spec), Element(elementTypeOf(*S.Train.Precision)) {}

  void run();

private:
  void embedding();
  void layer(const BlockSpec &Spec);
  void head();
  void crossEntropy(BlockBuilder &B, ValueId Logits, ValueId Labels,
                    ValueId LossMask);

  TensorType type(llvm::ArrayRef<Dim> Dims) const {
    return {Element, llvm::SmallVector<Dim, 4>(Dims)};
  }
  TensorType tokens(llvm::ArrayRef<Dim> More) const;
  TensorType residual() const {
    return tokens({{DimKind::Hidden, *S.Model.Hidden}});
  }

  ValueId batch(BlockBuilder &B, llvm::StringRef Name, ElementType Element);
  void attentionMask(BlockBuilder &B);
  ValueId norm(BlockBuilder &B, llvm::StringRef Name, ValueId X);
  ValueId dropout(BlockBuilder &B, llvm::StringRef Name, ValueId X);
  ValueId linear(BlockBuilder &B, llvm::StringRef Name, ValueId X, Dim In,
                 Dim Out, bool Bias);
  ValueId attention(BlockBuilder &B, const AttentionSpec &A, ValueId X);
  ValueId coreAttention(BlockBuilder &B, const AttentionSpec &A,
                        llvm::ArrayRef<ValueId> Operands, int64_t Channels);
  ValueId selfAttention(BlockBuilder &B, const AttentionSpec &A, ValueId X);
  ValueId latentAttention(BlockBuilder &B, const AttentionSpec &A, ValueId X);
  ValueId mlp(BlockBuilder &B, llvm::StringRef Prefix, const FfnSpec &F,
              int64_t Width, ValueId X);
  void countTokens(BlockBuilder &B, const MoeSpec &M, ValueId Probs);
  bool sendsProbabilities(const MoeSpec &M) const;
  ValueId asSlots(BlockBuilder &B, ValueId V);
  llvm::SmallVector<ValueId, 2> dispatch(BlockBuilder &B, const MoeSpec &M,
                                         ValueId X,
                                         llvm::ArrayRef<ValueId> Routing,
                                         TensorType Tokens, TensorType Weights);
  ValueId combine(BlockBuilder &B, const MoeSpec &M, ValueId Out,
                  ValueId Probs);
  ValueId expertLinear(BlockBuilder &B, llvm::StringRef Name, ValueId X,
                       Dim Experts, Dim In, Dim Out, bool Bias);
  ValueId experts(BlockBuilder &B, const BlockSpec &Spec, ValueId X);
  ValueId routedExperts(BlockBuilder &B, const BlockSpec &Spec, ValueId X);

  Program &P;
  const Spec &S;
  ElementType Element;
};

} // namespace

TensorType Elaborator::tokens(llvm::ArrayRef<Dim> More) const {
  // The batch of a value is that of all data-parallel replicas together;
  // `shard` gives each its micro-batch.
  TensorType T = type({{DimKind::Seq, *S.Train.Sequence},
                       {DimKind::Batch, *S.Train.MicroBatch * *S.Parallel.Dp}});
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
  T.Dims.insert(T.Dims.begin(), {DimKind::KvSeq, *S.Train.Sequence});
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

/// Of the query and of keys and values. An unfused kernel keeps the softmax of
/// the scores and, with dropout, what is left of it and the mask (Korthikanti
/// et al., arXiv 2205.05198, section 4.1); a fused one makes them again in
/// backward.
ValueId Elaborator::coreAttention(BlockBuilder &B, const AttentionSpec &A,
                                  llvm::ArrayRef<ValueId> Operands,
                                  int64_t Channels) {
  llvm::SmallVector<ValueId, 4> Results = {B.value(
      ValueKind::Activation, "context", tokens({{DimKind::Heads, Channels}}))};
  if (*S.Train.AttentionBackend == AttentionBackendKind::Unfused) {
    TensorType Scores = tokens({{DimKind::Heads, *A.Heads}});
    Scores.Dims.insert(Scores.Dims.begin() + 1,
                       {DimKind::KvSeq, *S.Train.Sequence});
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
  B.op(OpKind::Attention, "core_attention", Operands, Results);
  return Results.front();
}

/// Multi-head, grouped-query or multi-query attention. Query, key and value
/// come from one projection, as in Megatron-LM's SelfAttention.
ValueId Elaborator::selfAttention(BlockBuilder &B, const AttentionSpec &A,
                                  ValueId X) {
  Dim Hidden{DimKind::Hidden, *S.Model.Hidden};
  int64_t Query = *A.Heads * *A.HeadDim;
  int64_t Key = *A.KvHeads * *A.HeadDim;
  ValueId Qkv = linear(B, "linear_qkv", X, Hidden,
                       {DimKind::Heads, Query + 2 * Key}, *S.Model.QkvBias);
  auto Part = [&](llvm::StringRef Name, DimKind Tokens, int64_t Channels) {
    TensorType T = tokens({{DimKind::Heads, Channels}});
    T.Dims[0].Kind = Tokens;
    return B.value(ValueKind::Activation, Name, T);
  };
  ValueId Q = Part("query", DimKind::Seq, Query);
  if (!*A.QkNorm) {
    ValueId KeyValue = Part("key_value", DimKind::KvSeq, 2 * Key);
    B.op(OpKind::Split, "linear_qkv", {Qkv}, {Q, KeyValue});
    return coreAttention(B, A, {Q, KeyValue}, Query);
  }
  // The value is not normalised.
  ValueId K = Part("key", DimKind::KvSeq, Key);
  ValueId V = Part("value", DimKind::KvSeq, Key);
  B.op(OpKind::Split, "linear_qkv", {Qkv}, {Q, K, V});
  auto Normed = [&](std::string Name, ValueId X) {
    ValueId Weight =
        B.param(Name + ".weight", type({{DimKind::HeadDim, *A.HeadDim}}));
    return B.compute(OpKind::Norm, Name, {X, Weight}, Name + ".out",
                     B.block().Values[X].Type);
  };
  Q = Normed("q_layernorm", Q);
  K = Normed("k_layernorm", K);
  return coreAttention(B, A, {Q, K, V}, Query);
}

/// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434 section 2.1).
ValueId Elaborator::latentAttention(BlockBuilder &B, const AttentionSpec &A,
                                    ValueId X) {
  Dim Hidden{DimKind::Hidden, *S.Model.Hidden};
  Dim Query{DimKind::Heads, *A.Heads * (*A.NopeDim + *A.RopeDim)};
  ValueId Q;
  if (*A.QLora > 0) {
    Dim Rank{DimKind::Lora, *A.QLora};
    ValueId Down = linear(B, "linear_q_down_proj", X, Hidden, Rank, false);
    Q = linear(B, "linear_q_up_proj", norm(B, "q_layernorm", Down), Rank, Query,
               false);
  } else {
    Q = linear(B, "linear_q_proj", X, Hidden, Query, false);
  }
  Dim Rank{DimKind::Lora, *A.KvLora};
  ValueId Down = linear(B, "linear_kv_down_proj", X, Hidden,
                        {DimKind::Lora, *A.KvLora + *A.RopeDim}, false);
  ValueId Compressed =
      B.value(ValueKind::Activation, "kv_compressed", tokens({Rank}));
  TensorType RotaryType = tokens({{DimKind::Lora, *A.RopeDim}});
  RotaryType.Dims[0].Kind = DimKind::KvSeq;
  ValueId Rotary = B.value(ValueKind::Activation, "k_pos_emb", RotaryType);
  B.op(OpKind::Split, "linear_kv_down_proj", {Down}, {Compressed, Rotary});
  Dim Own{DimKind::Heads, *A.Heads * (*A.NopeDim + *A.VDim)};
  ValueId Up = linear(B, "linear_kv_up_proj",
                      norm(B, "kv_layernorm", Compressed), Rank, Own, false);
  TensorType KeyValueType = tokens({Own});
  KeyValueType.Dims[0].Kind = DimKind::KvSeq;
  ValueId Heads = B.value(ValueKind::Activation, "kv_heads", KeyValueType);
  B.op(OpKind::Split, "linear_kv_up_proj", {Up}, {Heads});
  // Every head gets a copy of the rotary key, before anything is exchanged.
  KeyValueType.Dims.back().Size += *A.Heads * *A.RopeDim;
  ValueId Kv = B.compute(OpKind::Concat, "key_value", {Heads, Rotary},
                         "key_value", KeyValueType);
  return coreAttention(B, A, {Q, Kv}, *A.Heads * *A.VDim);
}

ValueId Elaborator::attention(BlockBuilder &B, const AttentionSpec &A,
                              ValueId X) {
  bool Latent = *A.Kind == AttentionKind::MLA;
  ValueId Context = Latent ? latentAttention(B, A, X) : selfAttention(B, A, X);
  return linear(B, "linear_proj", Context,
                B.block().Values[Context].Type.Dims.back(),
                {DimKind::Hidden, *S.Model.Hidden}, *S.Model.Bias && !Latent);
}

ValueId Elaborator::mlp(BlockBuilder &B, llvm::StringRef Prefix,
                        const FfnSpec &F, int64_t Width, ValueId X) {
  Dim Hidden{DimKind::Hidden, *S.Model.Hidden};
  Dim Inner{DimKind::Ffn, Width};
  ValueId Up =
      linear(B, (Prefix + "linear_fc1").str(), X, Hidden,
             {DimKind::Ffn, isGated(*F.Activation) ? 2 * Width : Width},
             *F.LinearBias);
  ValueId Hot =
      B.compute(OpKind::Activation, (Prefix + "activation").str(), {Up},
                (Prefix + "activation.out").str(), tokens({Inner}));
  return linear(B, (Prefix + "linear_fc2").str(), Hot, Inner, Hidden,
                *F.LinearBias);
}

/// What each expert does to its slots X [.., In]: a linear layer of its own.
ValueId Elaborator::expertLinear(BlockBuilder &B, llvm::StringRef Name,
                                 ValueId X, Dim Experts, Dim In, Dim Out,
                                 bool Bias) {
  TensorType T = B.block().Values[X].Type;
  T.Dims.back() = Out;
  ValueId W = B.param((Name + ".weight").str(), type({Experts, In, Out}));
  ValueId Y = B.compute(OpKind::MatMul, Name, {X, W}, (Name + ".out").str(), T);
  if (!Bias)
    return Y;
  ValueId Vectors = B.param((Name + ".bias").str(), type({Experts, Out}));
  return B.compute(OpKind::BiasAdd, Name, {Y, Vectors}, (Name + ".sum").str(),
                   T);
}

/// The tokens of each expert, from which the auxiliary loss is made: those of a
/// replica's micro-batch, of every sample, or of all replicas (Megatron-LM,
/// transformer/moe/router.py).
void Elaborator::countTokens(BlockBuilder &B, const MoeSpec &M, ValueId Probs) {
  TensorType Counts{ElementType::I64, {{DimKind::Router, *M.Experts}}};
  auto CountApart = [&](int64_t Samples) {
    Counts.Dims.insert(Counts.Dims.begin(),
                       {DimKind::Batch, Samples * *S.Parallel.Dp});
  };
  switch (*M.AuxLoss) {
  case AuxLossKind::None:
    return;
  case AuxLossKind::Batch:
    CountApart(1);
    break;
  case AuxLossKind::Sequence:
    CountApart(*S.Train.MicroBatch);
    break;
  case AuxLossKind::Global:
    break;
  }
  B.compute(OpKind::Reduce, "router", {Probs}, "tokens_per_expert", Counts);
}

ValueId Elaborator::routedExperts(BlockBuilder &B, const BlockSpec &Spec,
                                  ValueId X) {
  const MoeSpec &M = *Spec.Moe;
  Dim Hidden{DimKind::Hidden, *S.Model.Hidden};
  Dim Scores{DimKind::Router, *M.Experts};
  ValueId Logits = linear(B, "router", X, Hidden, Scores, false);
  TensorType Scored = tokens({Scores});
  Scored.Element = elementTypeOf(*M.RouterPrecision);
  B.block().Values[Logits].Type = Scored;
  llvm::SmallVector<ValueId, 2> Routed = {Logits};
  if (*M.RouterBias)
    Routed.push_back(B.param("router.expert_bias", type({Scores})));
  ValueId Probs = B.value(ValueKind::Activation, "probs", Scored);
  llvm::SmallVector<ValueId, 2> Routing = {Probs};
  if (*M.Dispatcher == DispatcherKind::AllGather) {
    Scored.Element = ElementType::Bool;
    Routing.push_back(B.value(ValueKind::Activation, "routing_map", Scored));
  }
  B.op(OpKind::Route, "router", Routed, Routing);
  countTokens(B, M, Probs);
  // An activation has one slot per token and choice, spread over the experts;
  // sizes assume balanced routing.
  const TensorType Residual = residual();
  Dim Slots{DimKind::Slots,
            Residual.Dims[0].Size * Residual.Dims[1].Size * *M.TopK};
  Dim Spread{DimKind::Expert, 1};
  Dim Experts{DimKind::Expert, *M.Experts};
  int64_t Width = *Spec.Ffn.Intermediate;
  ActivationKind Act = *Spec.Ffn.Activation;
  Dim Wide{DimKind::ExpertFfn, isGated(Act) ? 2 * Width : Width};
  Dim Inner{DimKind::ExpertFfn, Width};
  llvm::SmallVector<ValueId, 2> Sorted = dispatch(
      B, M, X, Routing, type({Spread, Slots, Hidden}), type({Spread, Slots}));
  llvm::SmallVector<ValueId, 2> Inputs(Sorted);
  Inputs[0] = expertLinear(B, "experts.linear_fc1", Sorted[0], Experts, Hidden,
                           Wide, *Spec.Ffn.LinearBias);
  ValueId Hot =
      B.compute(OpKind::Activation, "experts.activation", Inputs,
                "experts.activation.out", type({Spread, Slots, Inner}));
  ValueId Down = expertLinear(B, "experts.linear_fc2", Hot, Experts, Inner,
                              Hidden, *Spec.Ffn.LinearBias);
  return combine(B, M, Down, Probs);
}

/// Whether experts weigh their slots, by probabilities that come with the
/// tokens; before core 0.13 slots that were exchanged are weighed when they are
/// back (Megatron-LM, transformer/moe/token_dispatcher.py).
bool Elaborator::sendsProbabilities(const MoeSpec &M) const {
  return *M.Dispatcher == DispatcherKind::AllGather ||
         *S.Parallel.Megatron >= MegatronVersion::V0_13;
}

/// Values like \p V, of tokens as the ranks of experts count them.
ValueId Elaborator::asSlots(BlockBuilder &B, ValueId V) {
  const Value Of = B.block().Values[V];
  TensorType T = Of.Type;
  T.Dims = {{DimKind::Slots, T.Dims[0].Size * T.Dims[1].Size}, T.Dims.back()};
  return B.compute(OpKind::View, "token_dispatcher", {V}, Of.Name + ".view", T);
}

/// The slots of \p Tokens and, if they are sent, their \p Weights. \p Routing
/// has probabilities and, for tokens that go to all experts, the map of
/// choices.
llvm::SmallVector<ValueId, 2>
Elaborator::dispatch(BlockBuilder &B, const MoeSpec &M, ValueId X,
                     llvm::ArrayRef<ValueId> Routing, TensorType Tokens,
                     TensorType Weights) {
  Weights.Element = elementTypeOf(*M.RouterPrecision);
  llvm::SmallVector<ValueId, 2> Made = {
      B.value(ValueKind::Activation, "dispatched", Tokens)};
  if (sendsProbabilities(M))
    Made.push_back(B.value(ValueKind::Activation, "dispatched_probs", Weights));
  llvm::SmallVector<ValueId, 3> From = {X};
  From.append(Routing.begin(), Routing.end());
  if (*M.Dispatcher == DispatcherKind::AllToAll) {
    B.op(OpKind::Permute, "token_dispatcher", From, Made);
    return Made;
  }
  for (ValueId &V : From)
    V = asSlots(B, V);
  B.op(OpKind::Pick, "token_dispatcher", From, Made);
  return Made;
}

/// What experts made of tokens, where the tokens came from.
ValueId Elaborator::combine(BlockBuilder &B, const MoeSpec &M, ValueId Out,
                            ValueId Probs) {
  llvm::SmallVector<ValueId, 2> Operands = {Out};
  if (*M.Dispatcher == DispatcherKind::AllToAll) {
    if (!sendsProbabilities(M))
      Operands.push_back(Probs);
    return B.compute(OpKind::Unpermute, "token_dispatcher", Operands,
                     "combined", residual());
  }
  TensorType T = residual();
  T.Dims = {{DimKind::Slots, T.Dims[0].Size * T.Dims[1].Size}, T.Dims.back()};
  ValueId Sum = B.compute(OpKind::Unpick, "token_dispatcher", Operands,
                          "combined.view", T);
  return B.compute(OpKind::View, "token_dispatcher", {Sum}, "combined",
                   residual());
}

ValueId Elaborator::experts(BlockBuilder &B, const BlockSpec &Spec, ValueId X) {
  const MoeSpec &M = *Spec.Moe;
  ValueId Y = routedExperts(B, Spec, X);
  if (*M.SharedIntermediate == 0)
    return Y;
  ValueId Shared =
      mlp(B, "shared_experts.", Spec.Ffn, *M.SharedIntermediate, X);
  if (*M.SharedGate) {
    ValueId Gate =
        linear(B, "shared_experts.gate", X, {DimKind::Hidden, *S.Model.Hidden},
               {DimKind::Router, 1}, false);
    Shared = B.compute(OpKind::Mul, "shared_experts.gate", {Shared, Gate},
                       "shared_experts.gated", residual());
  }
  return B.compute(OpKind::Add, "shared_experts", {Y, Shared},
                   "shared_experts.out", residual());
}

void Elaborator::embedding() {
  Block Blk;
  Blk.Name = "embedding";
  Blk.Range = S.Model.Vocab.Range;
  BlockBuilder B(Blk, "elaborate");
  B.setOrigin(S.Model.Vocab.Range, "token embedding");
  Dim Hidden{DimKind::Hidden, *S.Model.Hidden};
  ValueId Tokens = batch(B, "tokens", ElementType::I64);
  ValueId PositionIds = batch(B, "position_ids", ElementType::I64);
  if (*S.Train.AttentionMask)
    attentionMask(B);
  ValueId Table =
      B.param("word_embeddings.weight",
              type({{DimKind::Vocab, *S.Model.PaddedVocab}, Hidden}));
  ValueId X = B.compute(OpKind::Embed, "word_embeddings", {Tokens, Table},
                        "word_embeddings.out", residual());
  if (*S.Model.Positions == PositionKind::Learned) {
    B.setOrigin(S.Model.MaxPositions.Range, "position embedding");
    ValueId Rows =
        B.param("position_embeddings.weight",
                type({{DimKind::Position, *S.Model.MaxPositions}, Hidden}));
    ValueId Pos =
        B.compute(OpKind::Embed, "position_embeddings", {PositionIds, Rows},
                  "position_embeddings.out", residual());
    X = B.compute(OpKind::Add, "position_embeddings", {X, Pos}, "embedding.out",
                  residual());
  }
  dropout(B, "embedding", X);
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
                       : mlp(B, "", Spec.Ffn, *Spec.Ffn.Intermediate, N);
  B.compute(OpKind::Add, "mlp", {Mid, dropout(B, "mlp", F)}, "mlp.out",
            residual());
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
  ValueId N = norm(B, "final_layernorm", X);
  Dim Hidden{DimKind::Hidden, *S.Model.Hidden};
  Dim Vocab{DimKind::Vocab, *S.Model.PaddedVocab};
  ValueId Labels = batch(B, "labels", ElementType::I64);
  ValueId LossMask = batch(B, "loss_mask", ElementType::FP32);
  // One stage reads it once.
  if (*S.Train.AttentionMask && *S.Parallel.Pp > 1)
    attentionMask(B);
  ValueId W = B.param("output_layer.weight", type({Vocab, Hidden}));
  Blk.Values[W].Tied = *S.Model.Tied;
  ValueId Logits = B.compute(OpKind::MatMul, "output_layer", {N, W}, "logits",
                             tokens({Vocab}));
  B.setOrigin(S.Model.Vocab.Range, "cross entropy");
  crossEntropy(B, Logits, Labels, LossMask);
  P.Blocks.add(std::move(Blk));
}

void Elaborator::run() {
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
  P.AtLevel = Level::Model;
}

bool foretrace::elaborate(Program &P, DiagnosticEngine &) {
  Elaborator(P).run();
  return true;
}
