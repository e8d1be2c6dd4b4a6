// SPDX-License-Identifier: Apache-2.0
#include "backends/simai/AicbCounts.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::simai;

AicbJob AicbJob::of(const ir::Spec &S, simai::Version V) {
  const ir::ModelSpec &M = S.Model;
  const ir::ParallelSpec &P = S.Parallel;
  AicbJob J{};
  J.Version = V;
  J.Timed = *S.Cost.Kind == ir::CostKind::Profile;
  J.SequenceParallel = *P.SequenceParallel;
  J.Recompute = *S.Train.Recompute != ir::RecomputeKind::None;
  J.Bias = *M.Bias;
  J.Tp = *P.Tp;
  J.Pp = *P.Pp;
  J.Ep = *P.Ep;
  J.World = *P.World;
  J.Dp = J.World / (J.Tp * J.Pp);
  J.Ga = *S.Train.GlobalBatch / (*S.Train.MicroBatch * J.Dp);
  J.Layers = M.layerCount() / J.Pp;
  J.Hidden = *M.Hidden;
  J.Vocab = *M.Vocab;
  J.PaddedVocab = *M.PaddedVocab;
  J.Sequence = *S.Train.Sequence;
  J.MicroBatch = *S.Train.MicroBatch;

  // The generator knows one width for all networks: that of the experts.
  const ir::BlockSpec *Block = &M.Blocks.front();
  for (const ir::LayerRun &R : M.Layers)
    for (const ir::LayerRun::Item &I : R.Items) {
      const ir::BlockSpec &B = M.Blocks[I.Block];
      if (!B.Moe && !J.HasExperts)
        J.DenseLayers += R.Periods * I.Count;
      if (B.Moe && !J.HasExperts) {
        J.HasExperts = true;
        Block = &B;
      }
    }
  J.DenseLayers = std::min(J.DenseLayers, J.Layers);
  J.Ffn = *Block->Ffn.Intermediate;
  const ir::AttentionSpec &A = Block->Attention;
  J.IsDeepSeek = *A.Kind == ir::AttentionKind::MLA;
  J.Heads = *A.Heads;
  J.HeadDim = J.Hidden / J.Heads;
  if (Block->Moe) {
    J.Experts = *Block->Moe->Experts;
    J.TopK = *Block->Moe->TopK;
    J.Shared = *Block->Moe->Shared;
  }
  if (J.IsDeepSeek) {
    J.QLora = *A.QLora;
    J.KvLora = *A.KvLora;
    J.RopeDim = *A.RopeDim;
    J.NopeDim = *A.NopeDim;
    J.VDim = *A.VDim;
  }
  return J;
}

Bytes foretrace::simai::activationBytes(const AicbJob &J) {
  return Bytes(2) * J.MicroBatch * J.Sequence * J.Hidden;
}

namespace {

/// Sums parameters in the generator's terms.
class Counter {
public:
  explicit Counter(const AicbJob &J) : J(J) {}

  AicbParams run() const;

private:
  /// A weight In x Out / tp, its bias on the outputs a rank has.
  Elements column(int64_t In, int64_t Out) const {
    Elements N = Elements(Out).dividedDown(J.Tp) * In;
    return J.Bias ? N + Elements(Out / J.Tp) : N;
  }
  /// A weight In / tp x Out, its bias whole.
  Elements row(int64_t In, int64_t Out) const {
    Elements N = Elements(In).dividedDown(J.Tp) * Out;
    return J.Bias ? N + Elements(Out) : N;
  }
  /// A weight In x Out and its bias.
  Elements replicated(int64_t In, int64_t Out) const {
    Elements N = Elements(In) * Out;
    return J.Bias ? N + Elements(Out) : N;
  }
  Elements norm(int64_t Width) const {
    return J.SequenceParallel ? Elements(Width) * 2 : Elements();
  }
  Elements embedding() const;
  Elements attention() const;
  Elements latentAttention() const;
  Elements mlp() const {
    return column(J.Hidden, J.Ffn) + row(J.Ffn, J.Hidden);
  }
  Elements routedExperts() const;

  const AicbJob &J;
};

} // namespace

Elements Counter::embedding() const {
  // Weight, gradient and optimizer state, or so: the count is of the
  // generator's own making.
  int64_t Copies = J.Version == Version::V2024_10 ? 2 : 4;
  return Elements(J.PaddedVocab).dividedDown(J.Tp) * J.Hidden * Copies +
         Elements(J.Sequence) * J.Hidden;
}

Elements Counter::attention() const {
  if (J.IsDeepSeek)
    return latentAttention();
  int64_t Width = J.Heads * J.HeadDim;
  return column(J.Hidden, 3 * Width) + row(Width, J.Hidden);
}

/// Its norms are part of the block, so they count without sequence parallelism.
Elements Counter::latentAttention() const {
  return replicated(J.Hidden, J.QLora) +
         replicated(J.Hidden, J.KvLora + J.RopeDim) +
         column(J.QLora, J.Heads * (J.NopeDim + J.RopeDim)) +
         column(J.KvLora, J.Heads * (J.NopeDim + J.VDim)) +
         row(J.Heads * J.VDim, J.Hidden) + Elements(J.QLora) * 2 +
         Elements(J.KvLora) * 2;
}

Elements Counter::routedExperts() const {
  int64_t Matrices = J.IsDeepSeek ? 3 : 2;
  return (Elements(J.Hidden) * J.Ffn * (J.Experts / J.Ep) * Matrices)
      .dividedDown(J.Tp);
}

AicbParams Counter::run() const {
  int64_t ExpertLayers = !J.HasExperts  ? 0
                         : J.IsDeepSeek ? J.Layers - J.DenseLayers
                                        : J.Layers;
  // The shared expert is one of its layer's experts, and a network of its own.
  Elements Shared = J.Shared > 0 ? mlp() * ExpertLayers : Elements();
  AicbParams P;
  P.Experts = routedExperts() * ExpertLayers + Shared;
  P.All = embedding() + (attention() + norm(J.Hidden)) * J.Layers + P.Experts +
          Shared + mlp() * (J.Layers - ExpertLayers);
  if (J.SequenceParallel)
    P.All += column(J.Hidden, J.PaddedVocab);
  return P;
}

AicbParams foretrace::simai::countParams(const AicbJob &J) {
  return Counter(J).run();
}
