// SPDX-License-Identifier: Apache-2.0
#include "backends/aicb/AicbJob.h"
#include "backends/Backend.h"
#include "backends/KnownLayers.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Backends.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::aicb;

static constexpr llvm::StringRef Spellings[] = {
#define VERSION(ENUMERATOR, SPELLING, DOC) SPELLING,
#include "backends/aicb/AicbVersions.def"
};

llvm::StringRef foretrace::aicb::getSpelling(Version V) {
  return Spellings[static_cast<size_t>(V)];
}

std::string VersionText::expected() {
  return "one of \"" + llvm::join(llvm::ArrayRef(Spellings), "\", \"") + "\"";
}

std::string VersionText::show(Version V) {
  return ("\"" + getSpelling(V) + "\"").str();
}

bool VersionText::read(const ir::Attribute &A, Version &Into,
                       DiagnosticEngine &) {
  const std::optional<size_t> I = option::findText(A, Spellings);
  if (A.K != ir::Attribute::Kind::Text || !I)
    return false;
  Into = static_cast<Version>(*I);
  return true;
}

GeneratorJob GeneratorJob::of(const ir::Spec &S, aicb::Version V) {
  const ir::ModelSpec &M = S.Model;
  const ir::ParallelSpec &P = S.Parallel;
  GeneratorJob J{};
  J.Version = V;
  J.Timed = *S.Cost.Kind == ir::CostKind::Profile;
  J.SequenceParallel = *P.SequenceParallel;
  J.Recompute = *S.recomputeOf(M.Blocks.front()) != ir::RecomputeKind::None;
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
      if (!hasExperts(B) && !J.HasExperts)
        J.DenseLayers += R.Periods * I.Count;
      if (hasExperts(B) && !J.HasExperts) {
        J.HasExperts = true;
        Block = &B;
      }
    }
  J.DenseLayers = std::min(J.DenseLayers, J.Layers);
  const ir::LayerUse &A = Block->Mixer, &N = Block->Network;
  J.Ffn = *N.number("intermediate");
  J.IsDeepSeek = hasLatentAttention(*Block);
  J.Heads = *A.number("heads");
  J.HeadDim = J.Hidden / J.Heads;
  if (J.HasExperts) {
    J.Experts = *N.number("experts");
    J.TopK = *N.number("topk");
    if (*N.number("shared_intermediate") > 0)
      J.Shared = *N.number("shared");
  }
  if (J.IsDeepSeek) {
    J.QLora = *A.number("q_lora");
    J.KvLora = *A.number("kv_lora");
    J.RopeDim = *A.number("rope_dim");
    J.NopeDim = *A.number("nope_dim");
    J.VDim = *A.number("v_dim");
  }
  return J;
}

Bytes foretrace::aicb::activationBytes(const GeneratorJob &J) {
  return Bytes(2) * J.MicroBatch * J.Sequence * J.Hidden;
}

namespace {

/// Sums parameters in the generator's terms.
class Counter {
public:
  explicit Counter(const GeneratorJob &J) : J(J) {}

  Params run() const;

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
  Elements attention() const;
  Elements latentAttention() const;
  Elements mlp() const {
    return column(J.Hidden, J.Ffn) + row(J.Ffn, J.Hidden);
  }
  Elements routedExperts() const;

  const GeneratorJob &J;
};

} // namespace

Elements foretrace::aicb::countWords(const GeneratorJob &J) {
  // Weight, gradient and optimizer state, or so: the count is of the
  // generator's own making.
  int64_t Copies = J.Version == Version::V2024_10 ? 2 : 4;
  return Elements(J.PaddedVocab).dividedDown(J.Tp) * J.Hidden * Copies;
}

Elements foretrace::aicb::countPositions(const GeneratorJob &J) {
  return Elements(J.Sequence) * J.Hidden;
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

Params Counter::run() const {
  const int64_t ExpertLayers = J.expertLayers();
  const Elements Embedding = countWords(J) + countPositions(J);
  const Elements Final = column(J.Hidden, J.PaddedVocab);
  const Elements Attention = attention() * J.Layers;
  const Elements Dense = mlp() * (J.Layers - ExpertLayers);
  const Elements Norm = Elements(J.Hidden) * 2 * J.Layers;
  // The shared expert is one of its layer's experts, and in a table a network
  // of its own besides.
  const Elements Shared = J.Shared > 0 ? mlp() * ExpertLayers : Elements();
  Params P;
  P.Experts = routedExperts() * ExpertLayers + Shared;
  P.All = Embedding + Attention + P.Experts + Shared + Dense;
  if (J.SequenceParallel)
    P.All += Norm + Final;
  // A bias after attention that no table knows.
  P.Objects = Embedding + Attention + P.Experts + Dense + Norm +
              Elements(J.Hidden) * J.Layers + Final;
  return P;
}

Params foretrace::aicb::countParams(const GeneratorJob &J) {
  return Counter(J).run();
}

/// The generator splits projections, not heads: what it asserts for each. A
/// stage without layers has none.
static void checkChannels(const ir::Spec &S, const ir::BlockSpec &B,
                          DiagnosticEngine &Diags) {
  const ir::LayerUse &A = B.Mixer;
  const Located<int64_t> &Heads = A.number("heads");
  const int64_t Tp = *S.Parallel.Tp;
  if (S.Model.layerCount() < *S.Parallel.Pp)
    return;
  auto Check = [&](int64_t OfHead) {
    Elements Channels = Elements(*Heads) * OfHead;
    if (!Channels.isDivisibleBy(Tp))
      Diags.report(Heads.Range, diag::AicbChannels, *Heads, OfHead, Tp)
          .noteValue("tp", S.Parallel.Tp);
  };
  if (!hasLatentAttention(B))
    return Check(*S.Model.Hidden / *Heads);
  const int64_t Nope = *A.number("nope_dim"), V = *A.number("v_dim");
  for (int64_t OfHead : {Nope + *A.number("rope_dim"), Nope + V, V})
    Check(OfHead);
}

/// The generator has one switch for all layers.
static void checkRecompute(const ir::Spec &S, DiagnosticEngine &Diags) {
  const ir::BlockSpec &First = S.Model.Blocks.front();
  const Located<ir::RecomputeKind> &Other = S.recomputeOf(First);
  const ir::RecomputeKind OfFirst = *Other;
  for (const ir::BlockSpec &B : S.Model.Blocks) {
    const Located<ir::RecomputeKind> &Key = S.recomputeOf(B);
    if ((*Key == ir::RecomputeKind::None) ==
        (OfFirst == ir::RecomputeKind::None))
      continue;
    // At least one of the two values is stated.
    Diags.report(Key.Range.isValid() ? Key.Range : Other.Range,
                 diag::AicbRecompute, First.Name, ir::getSpelling(OfFirst),
                 B.Name, ir::getSpelling(*Key));
    return;
  }
}

void foretrace::aicb::checkShares(const ir::ParallelSpec &P,
                                  DiagnosticEngine &Diags) {
  if (P.isHybrid())
    Diags.report(P.DpShard.Range, diag::DpShardUnknown, *P.DpShard, *P.Dp,
                 "the public generator");
}

bool foretrace::aicb::checkJob(const ir::Spec &S, DiagnosticEngine &Diags) {
  unsigned Before = Diags.errorCount();
  const ir::ParallelSpec &P = S.Parallel;
  checkShares(P, Diags);
  if (!checkKinds(S, "the public generator", Diags))
    return false;
  if (*P.Cp > 1)
    Diags.report(P.Cp.Range, diag::SimaiCpIgnored, *P.Cp);
  checkRecompute(S, Diags);
  for (const ir::BlockSpec &B : S.Model.Blocks) {
    checkChannels(S, B, Diags);
    if (hasExperts(B) && !hasLatentAttention(B) && !*P.SequenceParallel)
      Diags.report(B.Network.number("experts").Range, diag::SimaiMoeNeedsSp);
  }
  return Diags.errorCount() == Before;
}
