// SPDX-License-Identifier: Apache-2.0
#include "backends/flops/MegatronCount.h"
#include "backends/KnownLayers.h"
#include "lang/diagnostics/Backends.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::flops;

namespace {

using Count = __int128;

/// Forward FLOPs of one sample.
class SampleCounter {
public:
  SampleCounter(const Spec &S, Convention By)
      : M(S.Model), By(By), Tokens(*S.Train.Sequence), Hidden(*S.Model.Hidden) {
  }

  Count model() const;

private:
  Count layers(llvm::ArrayRef<LayerRun> Runs) const;
  Count mixer(const LayerUse &Of) const;
  Count attention(const LayerUse &Of) const;
  Count latentAttention(const LayerUse &Of) const;
  Count compressedAttention(const LayerUse &Of) const;
  Count deltaNet(const LayerUse &Of) const;
  Count mamba(const LayerUse &Of) const;
  Count network(const BlockSpec &B) const;

  /// FLOPs of products with \p Weights elements, for each token.
  Count products(Count Weights) const { return 2 * Weights * Tokens; }
  static Count of(const LayerUse &Use, llvm::StringRef Key) {
    return *Use.number(Key);
  }

  const ModelSpec &M;
  const Convention By;
  const Count Tokens, Hidden;
};

} // namespace

/// Counts scores of half of all pairs, or of those within a window.
Count SampleCounter::attention(const LayerUse &Of) const {
  const Count Query = of(Of, "heads") * of(Of, "head_dim");
  const Count KeyValue = of(Of, "kv_heads") * of(Of, "head_dim");
  const Located<int64_t> *Stated = Of.find<int64_t>("window");
  const Count Window = Stated && Stated->isPresent() ? **Stated : 0;
  const LayerKey *Gate = Of.findKey("output_gate");
  const bool IsGated = Gate && *Of.word("output_gate") != "none";
  const bool IsDiscounted =
      By == Convention::Bridge && Window > 0 && Window < Tokens;
  const Count TwicePairs = IsDiscounted
                               ? 2 * Window * Tokens - Window * (Window - 1)
                               : Tokens * Tokens;
  const Count GateWeights =
      IsGated && By != Convention::Hybrid ? Hidden * Query : 0;
  return products(Hidden * (2 * Query + 2 * KeyValue) + GateWeights) +
         2 * Query * TwicePairs;
}

/// Counts norms as a multiplication for each channel.
Count SampleCounter::latentAttention(const LayerUse &Of) const {
  const Count Heads = of(Of, "heads"), Nope = of(Of, "nope_dim");
  const Count Rope = of(Of, "rope_dim"), V = of(Of, "v_dim");
  const Count QueryRank = of(Of, "q_lora"), Rank = of(Of, "kv_lora");
  const Count Query = QueryRank == 0
                          ? Hidden * Heads * (Nope + Rope)
                          : QueryRank * (Hidden + Heads * (Nope + Rope) + 1);
  const Count KeyValue =
      Rank * (Hidden + Heads * (Nope + V) + 1) + Hidden * Rope;
  return products(Query + KeyValue + Heads * V * Hidden) +
         Heads * (Nope + Rope + V) * Tokens * Tokens;
}

/// Counts DeepSeek-V4's attention (`dsv4_hybrid`): the window without its
/// start, of compressed tokens those that an indexer selects on average
/// (ratio 4), or half of all.
Count SampleCounter::compressedAttention(const LayerUse &Of) const {
  const Count Heads = of(Of, "heads"), Dim = of(Of, "head_dim");
  const Count QueryRank = of(Of, "q_lora"), Rank = of(Of, "o_lora");
  const Count Ratio = of(Of, "ratio");
  const Count Query = QueryRank * (Hidden + Heads * Dim + 1);
  const Count Output = Heads * Dim * Rank + of(Of, "o_groups") * Rank * Hidden;
  const Count Scores = Heads * of(Of, "window") * Dim * 2;
  Count Sum = products(Query + Hidden * Dim + Dim + Output + Scores);
  if (Ratio == 0)
    return Sum;
  if (Ratio != 4)
    return Sum + products(2 * Hidden * Dim) +
           2 * Heads * Dim * Tokens * Tokens / Ratio;
  const Count Indices = of(Of, "index_heads") * of(Of, "index_dim");
  const Count Chosen = std::min(of(Of, "index_topk"), Tokens / Ratio);
  Sum += 4 * Heads * Dim * (Chosen * Tokens - Chosen * Chosen * Ratio / 2);
  Sum += products(4 * Hidden * (Dim + of(Of, "index_dim")) +
                  QueryRank * Indices + Hidden * of(Of, "index_heads"));
  return Sum + 2 * Indices * Tokens * Tokens / Ratio;
}

Count SampleCounter::deltaNet(const LayerUse &Of) const {
  const Count Keys = of(Of, "key_heads") * of(Of, "key_dim");
  const Count ValueHeads = of(Of, "value_heads"), Dim = of(Of, "value_dim");
  const Count Values = ValueHeads * Dim;
  return products(Hidden * (2 * Keys + 2 * Values + 2 * ValueHeads) +
                  of(Of, "kernel") * (2 * Keys + Values) +
                  ValueHeads * Dim * Dim * 4 + Hidden * Values);
}

/// Counts Mamba-2 as if its width were twice the hidden size, and without its
/// convolution.
Count SampleCounter::mamba(const LayerUse &Of) const {
  const Count Inner = 2 * Hidden, State = of(Of, "state");
  return products(Hidden * (2 * Inner + 2 * of(Of, "groups") * State +
                            of(Of, "heads")) +
                  Inner * Hidden) +
         7 * Inner * State * Tokens;
}

/// Returns whether the functions count nothing of \p Of.
static bool isWithoutProducts(const LayerUse &Of) {
  return Of.Kind == "none" || Of.Kind == "hyper_start" ||
         Of.Kind == "hyper_end";
}

Count SampleCounter::mixer(const LayerUse &Of) const {
  using Counted = Count (SampleCounter::*)(const LayerUse &) const;
  static constexpr std::pair<llvm::StringLiteral, Counted> Others[] = {
      {"mla", &SampleCounter::latentAttention},
      {"csa", &SampleCounter::compressedAttention},
      {"mamba2", &SampleCounter::mamba},
      {"gated_delta_net", &SampleCounter::deltaNet}};
  if (isWithoutProducts(Of))
    return 0;
  for (const auto &[Kind, Count] : Others)
    if (Of.Kind == Kind)
      return (this->*Count)(Of);
  return attention(Of);
}

Count SampleCounter::network(const BlockSpec &B) const {
  const LayerUse &Of = B.Network;
  if (Of.Kind == "none")
    return 0;
  const bool IsHyper = Of.Kind == "hyper_experts"; // which are gated
  const Count Matrices = IsHyper || isGated(B) ? 3 : 2;
  const Count Width = of(Of, "intermediate");
  if (!IsHyper && !hasExperts(B))
    return products(Hidden * Width * Matrices);
  const Count Latent = IsHyper ? 0 : of(Of, "latent");
  const Count Payload = Latent > 0 ? Latent : Hidden;
  return products(Payload * Width * Matrices * of(Of, "topk") +
                  2 * Hidden * Latent +
                  Hidden * of(Of, "shared_intermediate") * Matrices);
}

Count SampleCounter::layers(llvm::ArrayRef<LayerRun> Runs) const {
  Count Sum = 0;
  for (const LayerRun &R : Runs)
    for (const LayerRun::Item &I : R.Items) {
      const BlockSpec &B = M.Blocks[I.Block];
      Sum += (mixer(B.Mixer) + network(B)) * R.Periods * I.Count;
    }
  return Sum;
}

/// Each depth of multi-token prediction has its layers and the output layer; in
/// a transformer also three norms and a projection.
Count SampleCounter::model() const {
  Count Sum = layers(M.Layers), Outputs = 1;
  if (M.Branch) {
    const Count Depths = of(*M.branch(), "depths");
    Outputs += Depths;
    Sum += layers(M.Branch->Layers) * Depths;
    if (By != Convention::Hybrid)
      Sum += products(3 * Hidden + 2 * Hidden * Hidden) * Depths;
  }
  return Sum + products(Hidden * *M.PaddedVocab) * Outputs;
}

__int128 flops::countIteration(const Spec &S, Convention By) {
  constexpr int Passes = 3; // forward, and two products backward
  return SampleCounter(S, By).model() * Passes * *S.Train.GlobalBatch;
}

bool flops::checkConvention(const Spec &S, Convention By,
                            DiagnosticEngine &Diags) {
  static constexpr llvm::StringLiteral Mixers[] = {
      "none",   "mha", "gqa",         "mqa",      "mla", "gated_delta_net",
      "mamba2", "csa", "hyper_start", "hyper_end"};
  static constexpr llvm::StringLiteral Networks[] = {"none", "dense", "experts",
                                                     "hyper_experts"};
  static constexpr llvm::StringLiteral OfBridge[] = {
      "csa", "hyper_start", "hyper_end", "hyper_experts"};
  const llvm::StringRef Who = By == Convention::Bridge
                                  ? "Megatron-Bridge's count of FLOPs"
                                  : "Megatron-LM's count of FLOPs";
  // Keys that the functions do not read, and their values without effect.
  struct Unread {
    llvm::StringLiteral Key;
    int64_t Off;
  };
  static constexpr Unread Numbers[] = {{"v_dim", 0}, {"zero_experts", 0}};
  bool AreKnown = true;
  auto Check = [&](const LayerUse &Use,
                   llvm::ArrayRef<llvm::StringLiteral> Known) {
    const bool IsHybrid = Use.Kind == "mamba2" && By != Convention::Hybrid;
    const bool IsTransformer = Use.Kind == "mla" && By == Convention::Hybrid;
    const bool IsElsewhere =
        By != Convention::Bridge && llvm::is_contained(OfBridge, Use.Kind);
    if (!llvm::is_contained(Known, Use.Kind) || IsHybrid || IsTransformer ||
        IsElsewhere) {
      Diags.report(Use.Range, diag::UnknownKind, Who, Use.Kind);
      AreKnown = false;
      return;
    }
    if (const auto *Ratio = Use.find<int64_t>("ratio");
        Use.Kind == "csa" && **Ratio != 0 && **Ratio != 4 && **Ratio != 128) {
      Diags.report(Ratio->Range, diag::UnknownVariant, Who,
                   "ratio = " + std::to_string(**Ratio));
      AreKnown = false;
    }
    for (const Unread &Of : Numbers) {
      const auto *Key = Use.find<int64_t>(Of.Key);
      if (Use.Kind == "mla" || !Key || !Key->isPresent() || **Key == Of.Off)
        continue;
      Diags.report(Key->Range, diag::UnknownVariant, Who, Of.Key);
      AreKnown = false;
    }
  };
  for (unsigned I = 0; I < S.Model.Blocks.size(); ++I) {
    if (S.Model.Branch && S.Model.Branch->Block == I)
      continue;
    Check(S.Model.Blocks[I].Mixer, Mixers);
    Check(S.Model.Blocks[I].Network, Networks);
  }
  return AreKnown;
}
