// SPDX-License-Identifier: Apache-2.0
//
// The numbers that can mend an error of `derive`, and which of their values may
// be legal.
#include "lang/diagnostics/Passes.h"
#include "passes/derive/RemedyTables.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::remedies;

/// Divisors of \p Total that are small or that a small number leads to:
/// all, up to 2^24.
static Values divisorsOf(int64_t Total) {
  constexpr int64_t MaxSmall = 1 << 12;
  Values Found;
  for (int64_t D = 1; D <= MaxSmall && D <= Total / D; ++D)
    if (Total % D == 0)
      Found.append({D, Total / D});
  return Found;
}

/// The multiples of \p Unit around \p Value.
static Values multiplesOf(int64_t Unit, int64_t Value) {
  constexpr int64_t MaxSteps = MaxTried;
  Values Found;
  for (int64_t Step = -MaxSteps; Step <= MaxSteps; ++Step) {
    int64_t Count, Multiple;
    if (!llvm::AddOverflow(Value / Unit, Step, Count) && Count > 0 &&
        !llvm::MulOverflow(Count, Unit, Multiple))
      Found.push_back(Multiple);
  }
  return Found;
}

static int64_t product(std::initializer_list<int64_t> Factors) {
  int64_t Product = 1;
  for (int64_t F : Factors)
    if (llvm::MulOverflow(Product, F, Product))
      return 1; // nothing near is legal, as its derivation will say
  return Product;
}

static Values divisorsOfWorld(const Spec &S, const Located<int64_t> &) {
  return divisorsOf(*S.Parallel.World);
}

#define SINGLE_KEY(SECTION, MEMBER)                                            \
  [](Spec &S, SourceRange) {                                                   \
    return std::vector<NumberKey::Field *>{&S.SECTION.MEMBER};                 \
  }
static constexpr NumberKey Tp = {"tp", SINGLE_KEY(Parallel, Tp),
                                 divisorsOfWorld};
static constexpr NumberKey Cp = {"cp", SINGLE_KEY(Parallel, Cp),
                                 divisorsOfWorld};
static constexpr NumberKey Pp = {"pp", SINGLE_KEY(Parallel, Pp),
                                 divisorsOfWorld};
static constexpr NumberKey Ep = {"ep", SINGLE_KEY(Parallel, Ep),
                                 divisorsOfWorld};
static constexpr NumberKey DpShard = {
    "dp_shard", SINGLE_KEY(Parallel, DpShard),
    [](const Spec &S, const auto &) { return divisorsOf(*S.Parallel.Dp); }};
static constexpr NumberKey Etp = {"etp", SINGLE_KEY(Parallel, Etp),
                                  divisorsOfWorld};
static constexpr NumberKey Vpp = {
    "vpp", SINGLE_KEY(Parallel, Vpp), [](const Spec &S, const auto &) {
      return divisorsOf(S.Model.layerCount() + *S.Parallel.EmbeddingAsLayer +
                        *S.Parallel.LossAsLayer);
    }};
static constexpr NumberKey World = {
    "world", SINGLE_KEY(Parallel, World), [](const Spec &S, const auto &Now) {
      const ParallelSpec &P = S.Parallel;
      const int64_t Etp = P.Etp.isPresent() ? *P.Etp : *P.Tp;
      const int64_t Dense = product({*P.Tp, *P.Cp, *P.Pp});
      const int64_t Expert = product({Etp, *P.Ep, *P.Pp});
      return multiplesOf(product({Dense / std::gcd(Dense, Expert), Expert}),
                         *Now);
    }};
static constexpr NumberKey GlobalBatch = {
    "global_batch", SINGLE_KEY(Train, GlobalBatch),
    [](const Spec &S, const auto &Now) {
      return multiplesOf(product({*S.Train.MicroBatch, *S.Parallel.Dp}), *Now);
    }};
static constexpr NumberKey MicroBatchGroup = {
    "micro_batch_group", SINGLE_KEY(Parallel, MicroBatchGroup),
    [](const Spec &, const auto &Now) { return multiplesOf(1, *Now); }};
static constexpr NumberKey Sequence = {
    "sequence", SINGLE_KEY(Train, Sequence),
    [](const Spec &S, const auto &Now) {
      const ParallelSpec &P = S.Parallel;
      const int64_t Tp = *P.SequenceParallel ? *P.Tp : 1;
      const int64_t Each = *P.Cp > 1 && Tp % 2 == 1 ? 2 : 1;
      return multiplesOf(product({*P.Cp, Tp, Each}), *Now);
    }};
static constexpr NumberKey MaxPositions = {
    "max_positions", SINGLE_KEY(Model, MaxPositions),
    [](const Spec &S, const auto &) { return Values{*S.Train.Sequence}; }};
static constexpr NumberKey Zero = {
    "zero", SINGLE_KEY(Parallel, Zero),
    [](const Spec &, const auto &) { return Values{0, 1}; }};
#undef SINGLE_KEY

static constexpr NumberKey Nodes = {
    "nodes",
    [](Spec &S, SourceRange) {
      return S.Cluster ? std::vector<NumberKey::Field *>{&S.Cluster->Nodes}
                       : std::vector<NumberKey::Field *>{};
    },
    [](const Spec &S, const auto &) {
      return Values{static_cast<int64_t>(
          llvm::divideCeil(*S.Parallel.World, *S.Cluster->DevicesPerNode))};
    }};

/// One end of the pipeline, if \p At states it.
template <Located<int64_t> ParallelSpec::*Member>
static std::vector<NumberKey::Field *> findEnd(Spec &S, SourceRange At) {
  Located<int64_t> &Key = S.Parallel.*Member;
  if (!Key.isPresent() || Key.Range.start() != At.start())
    return {};
  return {&Key};
}

static Values chunksOfStage(const Spec &S, const Located<int64_t> &Now) {
  return multiplesOf(*S.Parallel.Vpp, *Now);
}

static constexpr NumberKey FirstStageLayers = {
    "first_stage_layers", findEnd<&ParallelSpec::FirstStageLayers>,
    chunksOfStage};
static constexpr NumberKey LastStageLayers = {
    "last_stage_layers", findEnd<&ParallelSpec::LastStageLayers>,
    chunksOfStage};

/// A key of attention that \p At states, or that follows from `heads`, which
/// stand there.
template <Located<int64_t> AttentionSpec::*Member>
static std::vector<NumberKey::Field *> findOfHeads(Spec &S, SourceRange At) {
  std::vector<NumberKey::Field *> Found;
  for (BlockSpec &B : S.Model.Blocks) {
    Located<int64_t> &Key = B.Attention.*Member;
    const SourceRange Place =
        Key.isPresent() ? Key.Range : B.Attention.Heads.Range;
    if (Place.start() == At.start())
      Found.push_back(&Key);
  }
  return Found;
}

static Values evenNumbers(const Spec &, const Located<int64_t> &Now) {
  return multiplesOf(2, *Now);
}

static constexpr NumberKey HeadDim = {
    "head_dim", findOfHeads<&AttentionSpec::HeadDim>, evenNumbers};
static constexpr NumberKey RopeDim = {
    "rope_dim", findOfHeads<&AttentionSpec::RopeDim>, evenNumbers};
static constexpr NumberKey KvHeads = {
    "kv_heads", findOfHeads<&AttentionSpec::KvHeads>,
    [](const Spec &S, const auto &Now) {
      for (const BlockSpec &B : S.Model.Blocks)
        if (B.Attention.KvHeads.Range.start() == Now.Range.start())
          return divisorsOf(*B.Attention.Heads);
      return Values();
    }};

/// Multiples of the key heads and of the ranks that heads are split over.
static constexpr NumberKey Heads = {
    "heads", findOfHeads<&AttentionSpec::Heads>,
    [](const Spec &S, const auto &Now) {
      int64_t KvHeads = 1;
      for (const BlockSpec &B : S.Model.Blocks)
        if (B.Attention.Heads.Range.start() == Now.Range.start() &&
            *B.Attention.Kind == AttentionKind::GQA)
          KvHeads = *B.Attention.KvHeads;
      const int64_t Tp = *S.Parallel.Tp;
      return multiplesOf(product({KvHeads / std::gcd(KvHeads, Tp), Tp}), *Now);
    }};

llvm::ArrayRef<NumberRow> foretrace::remedies::numberRows() {
  static constexpr NumberRow Rows[] = {
      {diag::WorldIndivisible, World},
      {diag::WorldIndivisible, Tp},
      {diag::WorldIndivisible, Cp},
      {diag::WorldIndivisible, Pp},
      {diag::WorldExceedsCluster, Nodes},
      {diag::WorldExceedsCluster, World},
      {diag::ZeroPipeline, Zero},
      {diag::ZeroPipeline, Pp},
      {diag::BatchIndivisible, GlobalBatch},
      {diag::GaIndivisible, GlobalBatch},
      {diag::LastGroup, GlobalBatch},
      {diag::LastGroup, MicroBatchGroup},
      {diag::MicroBatchGroup, MicroBatchGroup},
      {diag::SequenceIndivisible, Sequence},
      {diag::SequenceExceedsPositions, MaxPositions},
      {diag::RotaryOdd, HeadDim},
      {diag::RotaryOdd, RopeDim},
      {diag::HeadDimIndivisible, Heads},
      {diag::HeadsIndivisible, Tp},
      {diag::KvHeadsIndivisible, Tp},
      {diag::KvHeadsNoFactor, KvHeads},
      {diag::CpHeadsIndivisible, Cp},
      {diag::UnfusedCp, Cp},
      {diag::FfnIndivisible, Tp},
      {diag::FfnIndivisible, Etp},
      {diag::ExpertsIndivisible, Ep},
      {diag::EpExceedsDp, Ep},
      {diag::EpExceedsDp, Etp},
      {diag::RankOrderExperts, Etp},
      {diag::DpShardIndivisible, DpShard},
      {diag::DpShardExperts, DpShard},
      {diag::DpShardExperts, Ep},
      {diag::ExpertBiasEtp, Etp},
      {diag::StageEmpty, FirstStageLayers},
      {diag::StageEmpty, LastStageLayers},
      {diag::StageRest, FirstStageLayers},
      {diag::StageRest, LastStageLayers},
      {diag::PartitionStages, Pp},
      {diag::VppWithoutPp, Pp},
      {diag::VppWithoutPp, Vpp},
      {diag::LayersIndivisible, Pp},
      {diag::LayersIndivisible, Vpp},
  };
  return Rows;
}
